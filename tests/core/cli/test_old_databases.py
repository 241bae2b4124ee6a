"""flask migrate on the databases of releases before this one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playhouse.migrations import Runner

from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.storage import counters, db, migrator
from petstore.storage.database import opened_databases
from tests.harness.stage import opened

STEPS = Path(migrator.__file__).parent / "migrations"
# Tables that this transaction has locked for all writers.
LOCKED = """
SELECT relname FROM pg_locks JOIN pg_class ON pg_class.oid = relation
WHERE pid = pg_backend_pid() AND relkind = 'r' AND relname NOT LIKE '%%migration'
AND mode IN (
  'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'
)
"""
REX = {"name": "Rex", "category_id": 7, "status": "available"}
PROJECT = (
    "INSERT INTO project (slug, name, plan, created_ms, rows_held)"
    " VALUES ('shelter', 'Shelter', 'free', 1, 0)"
)
KEY = (
    "INSERT INTO api_key (project_id, prefix, digest, created_ms, role, is_public)"
    " VALUES (1, 'pet_1', '', 1, 'read', TRUE)"
)
PET = (
    "INSERT INTO pet (project_id, name, category_id, status, folded)"
    " VALUES (1, 'Rex', 7, 'sold', 'rex')"
)


@pytest.fixture(autouse=True)
def old_database(unmigrated_url: str) -> Iterator[None]:
    """A database as release 1.4.0 has made and recorded it, with a project."""
    with opened({"DATABASE_URL": unmigrated_url}):
        data, counts = opened_databases()
        for database in (data, counts):
            database.create()
        Runner(data, str(STEPS), "migration").up("0050_tables")
        Runner(counts, str(STEPS / "counters"), "counter_migration").up(
            "0003_window_counter"
        )
        db.execute_sql("DELETE FROM migration WHERE name = '0050_tables'")
        db.execute_sql(PROJECT)
        yield


def test_database_of_the_release_before_gets_the_steps_that_it_misses():
    db.execute_sql(KEY)
    first, *_ = migrator.migrate()
    assert first.startswith("0051")
    assert [*migrator.migrate()] == []
    migrator.require_migrated()
    assert not counters.table_exists("counter")
    assert Key.get().role == "public"


def test_database_of_an_older_release_is_refused():
    db.execute_sql("DELETE FROM migration WHERE name > '0044'")
    for run in (migrator.migrate, migrator.require_migrated):
        with pytest.raises(migrator.NotMigrated, match="upgrade it to"):
            list(run() or ())


def test_database_that_release_1_3_0_has_left_unfinished_is_refused():
    db.execute_sql(PET)
    with pytest.raises(migrator.NotMigrated, match=r"serve with release 1\.4\.0"):
        list(migrator.migrate())
    with pytest.raises(migrator.NotMigrated, match="is pending"):
        migrator.require_migrated()


@pytest.mark.parametrize("unmigrated_url", ["postgresql"], indirect=True)
def test_no_step_locks_two_tables_for_writers():
    # It would hold one and wait for the other, as a writer does the other way round.
    is_done = False
    while not is_done:
        with db.atomic():
            is_done = next(migrator.migrate(), None) is None
            assert len({*db.execute_sql(LOCKED)}) <= 1


def test_ids_are_never_used_twice():
    list(migrator.migrate())
    project = Project.get()
    order = Order.place(project.id, Pet.add(project.id, **REX).id)
    Order.delete().execute()
    assert Order.place(project.id, Pet.add(project.id, **REX).id).id > order.id
