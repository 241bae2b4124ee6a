"""flask migrate on the databases of releases before this one."""

from collections.abc import Iterator

import pytest

from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from petstore.storage import counters, db, migrator
from tests.harness.stage import opened

REX = {"name": "Rex", "category_id": 7, "status": "available"}
# The columns that later releases have added, by their table.
ADDED = {"pet_order": "pet_name pet_folded placed_by closed_by"}
ADDED |= {
    "upload": "choices",
    "project": "suspended_ms",
    "pet": "writes closed_order closed_write",
}


@pytest.fixture(autouse=True)
def project(unmigrated_url: str) -> Iterator[Project]:
    """A project in a database as release 1.2.0 has recorded it."""
    since = "DELETE FROM counter_migration WHERE name > '0002_counter'"
    with opened({"DATABASE_URL": unmigrated_url}):
        migrator.migrate()
        db.execute_sql("DELETE FROM migration WHERE name > '0043'")
        db.execute_sql("UPDATE migration SET name = '0042_names_of_categories'")
        trigger = (
            "TRIGGER pet_writes" if db.file else "FUNCTION count_pet_writes CASCADE"
        )
        db.execute_sql(f"DROP {trigger}")
        for table in ("pet", "pet_order"):
            db.execute_sql(f"DROP INDEX {table}_outdated")
        for table in ("category_merge", "import"):
            db.execute_sql(f"DROP TABLE {table}")
        for table, columns in ADDED.items():
            for name in columns.split():
                db.execute_sql(f"ALTER TABLE {table} DROP COLUMN {name}")
        counters.execute_sql(since)
        yield Project.add("Shelter", None, Plan("free"))


def test_database_of_the_release_before_has_its_tables():
    assert "0042_tables" not in migrator.migrate()
    assert migrator.migrate() == []
    migrator.require_migrated()


def test_database_of_an_older_release_is_refused():
    db.execute_sql("UPDATE migration SET name = '0026_domain_columns'")
    for run in (migrator.migrate, migrator.require_migrated):
        with pytest.raises(migrator.NotMigrated, match="upgrade it to"):
            run()


@pytest.mark.parametrize("column", ["pet.folded", "project.rows_held"])
def test_database_that_an_older_release_has_left_unfinished_is_refused(
    project: Project, column: str
):
    Pet.add(project.id, **REX)
    table, _, name = column.partition(".")
    db.execute_sql(f"UPDATE {table} SET {name} = NULL")
    with pytest.raises(migrator.NotMigrated, match="for some minutes"):
        migrator.migrate()
    with pytest.raises(migrator.NotMigrated, match="is pending"):
        migrator.require_migrated()


def test_what_release_1_1_0_has_recorded_goes(project: Project):
    refers = "project_id bigint REFERENCES project (id)"
    db.execute_sql(f"CREATE TABLE limited_action ({refers})")
    db.execute_sql(f"INSERT INTO limited_action VALUES ({project.id})")
    migrator.migrate()
    assert not db.table_exists("limited_action")


def test_ids_are_never_used_twice(project: Project):
    migrator.migrate()
    order = Order.place(project.id, Pet.add(project.id, **REX).id)
    Order.delete().execute()
    assert Order.place(project.id, Pet.add(project.id, **REX).id).id > order.id
