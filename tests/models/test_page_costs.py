"""Reading pets uses an index, and no page costs more than the first one."""

from collections.abc import Callable

import pytest

from petstore.database import data
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.statements import Statement

ANIMALS = 10_000
Read = Callable[[int], object]


def page(after: int, status: str | None = None) -> Read:
    """Return a function that reads 20 pets, and one more to detect a next page."""
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
    """The id of a project with many pets; the rival has as many later ones."""
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
def statement_of(
    statements: list[Statement],
) -> Callable[[Read, int], Statement]:
    """A function that returns the statement that a read runs."""

    def statement_of(read: Read, project: int) -> Statement:
        statements.clear()
        read(project)
        [statement] = statements
        return statement

    return statement_of


@pytest.mark.parametrize("name", READS)
def test_read_uses_an_index(
    name: str, crowded: int, statement_of: Callable[[Read, int], Statement]
):
    plan = statement_of(READS[name], crowded).plan()
    assert "SEARCH" in plan or "Index" in plan
    for detour in ("SCAN", "TEMP B-TREE", "Seq Scan", "Bitmap", "Sort"):
        assert detour not in plan


@pytest.mark.parametrize("name", DEEP)
def test_deep_page_costs_no_more_than_the_first(
    name: str, crowded: int, statement_of: Callable[[Read, int], Statement]
):
    _, status = name.split(", ")
    first = statement_of(FIRST[status], crowded).cost()
    assert statement_of(DEEP[name], crowded).cost() <= 1.2 * first
