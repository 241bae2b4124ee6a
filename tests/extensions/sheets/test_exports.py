"""Files that go out: in memory there is one part, however many rows there are."""

import tracemalloc
from collections.abc import Callable

from petstore.extensions.sheets import exports
from petstore.models.projects import Project
from petstore.storage.database import db
from tests.harness.statements import recorded

FEW, MANY = 200, 4_000


def peak(project: Project) -> tuple[int, int]:
    """Return the lines of an export, and the most bytes that it has kept."""
    tracemalloc.start()
    lines = sum(part.count(b"\n") for part in exports.animals(project.id))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return lines, most


def test_memory_does_not_grow_with_the_rows(project: Project, set_limits: Callable):
    set_limits(exported_rows=50, export_pause_seconds=0.0)
    found = []
    for count in (FEW, MANY):
        db.execute_sql(
            f"WITH RECURSIVE n (n) AS (SELECT 1"
            f" UNION ALL SELECT n + 1 FROM n WHERE n < {count})"
            " INSERT INTO pet (project_id, name, category_id, status)"
            f" SELECT {project.id}, 'Animal ' || n, n - n / 9 * 9, 'sold' FROM n"
        )
        peak(project)  # builds the statements
        found.append(peak(project))
    (few_lines, few), (lines, many) = found
    assert (few_lines, lines) == (1 + FEW, 1 + FEW + MANY)
    assert many < 1.5 * few
    with recorded() as statements:
        parts = list(exports.animals(project.id))
    pages = [each for each in statements if "LIMIT" in each.sql]
    assert (len(parts), len(pages)) == (1 + 84, 84 + 1)
