"""Every way to read animals follows an index, and no page costs more than page 1."""

import json
from collections.abc import Callable

import pytest

from petstore.database import data, is_sqlite
from petstore.models.pets import Pet
from petstore.models.projects import Project

ANIMALS = 10_000
Read = Callable[[int], object]


def page(after: int, status: str | None = None) -> Read:
    """Reads a page of 20 animals, and the one that tells that more follow."""
    return lambda project: Pet.page(project, after=after, limit=21, status=status)


FIRST = {"any": page(0), "sold": page(0, "sold")}
DEEP = {
    "last page, any": page(ANIMALS - 20),
    "last page, sold": page(ANIMALS - 40, "sold"),
    "beyond the last page, any": page(ANIMALS),
    "beyond the last page, sold": page(ANIMALS, "sold"),
}
READS = FIRST | DEEP | {"one animal": lambda project: Pet.find(project, ANIMALS)}


@pytest.fixture
def crowded(project: Project, rival: Project) -> int:
    """The id of a project with many animals, whose rival added as many later."""
    for owner in (project, rival):
        data.execute_sql(
            "WITH RECURSIVE n (n) AS"
            f" (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {ANIMALS})"
            " INSERT INTO pet (project_id, name, category_id, status)"
            f" SELECT {owner.id}, 'Rex', 1,"
            "  CASE WHEN n / 2 * 2 = n THEN 'sold' ELSE 'available' END FROM n"
        )
    data.execute_sql("ANALYZE pet")
    return project.id


@pytest.fixture
def sql_of(caplog: pytest.LogCaptureFixture) -> Callable[[Read, int], tuple]:
    """The statement that a read runs, and its values."""

    def sql_of(read: Read, project: int) -> tuple:
        caplog.clear()
        with caplog.at_level("DEBUG", logger="peewee"):
            read(project)
        [record] = [record for record in caplog.records if record.name == "peewee"]
        return record.msg

    return sql_of


@pytest.mark.parametrize("name", READS)
def test_a_read_goes_straight_to_its_rows(name: str, crowded: int, sql_of):
    sql, values = sql_of(READS[name], crowded)
    explain = "EXPLAIN QUERY PLAN" if is_sqlite(data.obj) else "EXPLAIN"
    rows = data.execute_sql(f"{explain} {sql}", values).fetchall()
    plan = "\n".join(str(row[-1]) for row in rows)
    assert "SEARCH" in plan or "Index" in plan
    for detour in ("SCAN", "TEMP B-TREE", "Seq Scan", "Bitmap", "Sort"):
        assert detour not in plan


@pytest.mark.parametrize("name", DEEP)
def test_a_deep_page_costs_no_more_than_the_first(name: str, crowded: int, sql_of):
    _, status = name.split(", ")
    first = cost(*sql_of(FIRST[status], crowded))
    assert cost(*sql_of(DEEP[name], crowded)) <= 1.2 * first


def cost(sql: str, values: list) -> int:
    """The steps of SQLite's machine, or the blocks that PostgreSQL reads."""
    if not is_sqlite(data.obj):
        explain = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)"
        [(plans,)] = data.execute_sql(f"{explain} {sql}", values).fetchall()
        [plan] = plans if isinstance(plans, list) else json.loads(plans)
        return plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
    steps = []
    data.connection().set_progress_handler(lambda: steps.append(1), 1)
    data.execute_sql(sql, values).fetchall()
    data.connection().set_progress_handler(None, 1)
    return len(steps)
