"""Files that go out: in memory there is one part, however many rows there are."""

import tracemalloc
from collections.abc import Callable

import pytest

from petstore.models.projects import Project
from petstore.sheets import exports
from petstore.storage import db
from tests.harness.statements import recorded

FEW, MANY = 2_000, 20_000


@pytest.fixture
def fill(project: Project) -> Callable[[int], None]:
    """A function that adds animals until there are so many."""

    def fill(count: int) -> None:
        [(before,)] = db.execute_sql("SELECT count(*) FROM pet").fetchall()
        db.execute_sql(
            f"WITH RECURSIVE n (n) AS (SELECT {before} + 1"
            f" UNION ALL SELECT n + 1 FROM n WHERE n < {count})"
            " INSERT INTO pet (project_id, name, category_id, status)"
            f" SELECT {project.id}, 'Animal ' || n, n - n / 9 * 9, 'sold' FROM n"
        )

    return fill


def peak(project: Project) -> tuple[int, int]:
    """Return the lines of an export, and the most bytes that it has kept."""
    tracemalloc.start()
    lines = sum(part.count(b"\n") for part in exports.animals(project.id))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return lines, most


def test_memory_does_not_grow_with_the_rows(
    project: Project, fill: Callable, set_limits: Callable
):
    set_limits(export_pause_seconds=0.0)
    fill(FEW)
    peak(project)  # builds the statements
    lines, few = peak(project)
    assert lines == 1 + FEW
    fill(MANY)
    lines, many = peak(project)
    assert lines == 1 + MANY
    assert many < 2 * few < 2**20


def test_each_part_reads_its_own_rows_alone(
    project: Project, fill: Callable, set_limits: Callable
):
    set_limits(exported_rows=100, export_pause_seconds=0.0)
    fill(300)
    with recorded() as statements:
        parts = list(exports.animals(project.id))
    pages = [each for each in statements if "LIMIT" in each.sql]
    assert (len(parts), len(pages)) == (1 + 3, 3 + 1)
