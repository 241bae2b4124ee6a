"""Deleting outdated rows: what it costs, and whom it waits for."""

import psycopg
import pytest

from petstore.models.projects import Project
from petstore.models.stored_responses import StoredResponse
from petstore.storage.database import db
from petstore.storage.sweeping import SWEPT_AT_ONCE
from tests.harness.clocks import START_MS
from tests.harness.costs import measured
from tests.harness.statements import recorded

DAYS_AGO_MS = 1_000
# Without these, PostgreSQL runs the inner query again for each row of the outer one.
OTHER_PLANS = ["indexscan", "bitmapscan", "material", "hashjoin", "mergejoin"]
OTHER_PLANS += ["hashagg", "sort"]


def insert(project: Project, first: int, last: int, created_ms: int) -> None:
    """Insert responses whose idempotency keys are these numbers."""
    db.execute_sql(
        "WITH RECURSIVE n (n) AS"
        f" (SELECT {first} UNION ALL SELECT n + 1 FROM n WHERE n < {last})"
        " INSERT INTO reply (project_id, path, key, fingerprint, created_ms)"
        f" SELECT {project.id}, '/v1/pets', n || '', '', {created_ms} FROM n"
    )


@pytest.fixture
def outdated(project: Project) -> list[str]:
    """The idempotency keys of three outdated responses."""
    keys = ["first", "second", "third"]
    row = {"project": project.id, "path": "/v1/pets", "fingerprint": b""}
    for number, key in enumerate(keys):
        StoredResponse.insert(row, key=key, created_ms=DAYS_AGO_MS + number).execute()
    return keys


def test_outdated_rows_are_deleted_by_one_statement(outdated: list[str]):
    with recorded() as statements:
        StoredResponse.sweep()
    assert [each.gist.split()[0] for each in statements] == ["SELECT", "DELETE"]
    assert StoredResponse.select().count() == 0


def test_nothing_is_written_if_nothing_is_outdated(project: Project):
    with recorded() as statements:
        StoredResponse.sweep()
    assert [each.gist for each in statements] == ["SELECT reply"]


def test_rows_that_are_kept_make_a_sweep_no_dearer(project: Project):
    def sweep_one() -> int:
        insert(project, 1, 1, DAYS_AGO_MS)
        if not db.file:
            db.execute_sql("ANALYZE reply")
        with measured() as costs:
            StoredResponse.sweep()
        assert [cost.sql.split()[0] for cost in costs] == ["SELECT", "DELETE"]
        return sum(cost.examined for cost in costs)

    insert(project, 2, 100, START_MS)
    before = sweep_one()
    insert(project, 101, 2_000, START_MS)
    assert sweep_one() < 2 * before


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_row_that_others_have_locked_is_left_for_later(
    outdated: list[str], postgresql: psycopg.Connection
):
    with postgresql.transaction():
        postgresql.execute("SELECT 1 FROM reply WHERE key = 'second' FOR UPDATE")
        StoredResponse.sweep()
    assert [stored.key for stored in StoredResponse.select()] == ["second"]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_batch_is_as_small_if_the_planner_joins_by_a_nested_loop(project: Project):
    row = {"project": project.id, "path": "/v1/pets", "fingerprint": b""}
    for number in range(SWEPT_AT_ONCE + 5):
        StoredResponse.insert(row, key=str(number), created_ms=DAYS_AGO_MS).execute()
    with db.atomic():
        for plan in OTHER_PLANS:
            db.execute_sql(f"SET LOCAL enable_{plan} = off")
        StoredResponse.sweep()
    assert StoredResponse.select().count() == 5
