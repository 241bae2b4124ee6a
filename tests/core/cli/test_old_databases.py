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
    " VALUES (1, 'Rex', 7, 'sold', {})"
)
# Rows that a release has to complete before the next one, with that release.
INCOMPLETE = [
    ("1.2.0", "UPDATE project SET rows_held = NULL"),
    ("1.2.0", PET.format("NULL")),
    ("1.4.0", PET.format("'rex'")),
]


@pytest.fixture(autouse=True)
def old_database(unmigrated_url: str) -> Iterator[None]:
    """A database as release 1.2.0 has made and recorded it, with a project."""
    with opened({"DATABASE_URL": unmigrated_url}):
        data, counts = opened_databases()
        for database in (data, counts):
            database.create()
        Runner(data, str(STEPS), table_name="migration").up("0042_tables")
        counting = Runner(counts, str(STEPS / "counters"), "counter_migration")
        counting.up("0002_counter")
        db.execute_sql("UPDATE migration SET name = '0042_names_of_categories'")
        db.execute_sql(PROJECT)
        yield


def test_database_of_an_old_release_gets_the_steps_that_it_misses():
    db.execute_sql(KEY)
    applied = migrator.migrate()
    assert applied[0].startswith("0043")
    assert migrator.migrate() == []
    migrator.require_migrated()
    assert not counters.table_exists("counter")
    assert Key.get().role == "public"


def test_database_of_an_older_release_is_refused():
    db.execute_sql("UPDATE migration SET name = '0026_domain_columns'")
    for run in (migrator.migrate, migrator.require_migrated):
        with pytest.raises(migrator.NotMigrated, match="upgrade it to"):
            run()


@pytest.mark.parametrize(("release", "left"), INCOMPLETE)
def test_database_that_an_older_release_has_left_unfinished_is_refused(
    release: str, left: str
):
    db.execute_sql(left)
    with pytest.raises(migrator.NotMigrated, match=f"serve with release {release}"):
        migrator.migrate()
    with pytest.raises(migrator.NotMigrated, match="is pending"):
        migrator.require_migrated()


def test_what_release_1_1_0_has_recorded_goes():
    refers = "project_id bigint REFERENCES project (id)"
    db.execute_sql(f"CREATE TABLE limited_action ({refers})")
    db.execute_sql("INSERT INTO limited_action VALUES (1)")
    migrator.migrate()
    assert not db.table_exists("limited_action")


def test_ids_are_never_used_twice():
    migrator.migrate()
    project = Project.get()
    order = Order.place(project.id, Pet.add(project.id, **REX).id)
    Order.delete().execute()
    assert Order.place(project.id, Pet.add(project.id, **REX).id).id > order.id
