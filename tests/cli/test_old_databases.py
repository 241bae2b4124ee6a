"""flask migrate on databases that already hold rows."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from peewee import DatabaseError
from playhouse.migrations import Runner

from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.orders import Order, OrderTable
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.settings import read_settings
from petstore.storage import db, migrator
from petstore.storage.database import databases_at, open_databases, opened_databases
from petstore.storage.lists import Part
from petstore.upkeep import housekeeping
from tests.harness import databases

SHELTER = 1


@pytest.fixture(autouse=True)
def old(unmigrated_url: str) -> Iterator[None]:
    """A database of release 1.1.0, with two projects, keys and an animal."""
    open_databases(read_settings({"DATABASE_URL": unmigrated_url}))
    runner = Runner(db.obj, str(migrator._DIRECTORY), table_name="migration")
    runner.migrations()[0].load().create_old_tables(db.obj)
    runner.History.create_table()
    runner.History.create(name="0026_domain_columns")
    insert(
        "project (slug, name, plan, per_minute, per_day, created_ms) VALUES"
        " ('shelter', 'S', 'free', NULL, NULL, 0),"
        " ('rival', 'R', 'enterprise', 7, 70, 0)"
    )
    insert(
        "api_key (project_id, prefix, digest, created_ms, role, per_minute, per_day)"
        " VALUES (1, 'q', '', 0, 'read', 5, 50), (1, 'r', '', 0, 'read', NULL, NULL),"
        " (1, 's', '', 0, 'write', 5, 50)"
    )
    insert("api_key (project_id, prefix, digest, created_ms) VALUES (1, 'p', '', 0)")
    insert("pet (project_id, name, category_id, status) VALUES (1, 'R', 7, 'sold')")
    insert("category (project_id, id) VALUES (1, 7)")
    yield
    databases.close()


def insert(row: str) -> None:
    db.execute_sql(f"INSERT INTO {row}")


def test_what_the_release_before_has_added_is_kept_and_counted():
    assert migrator.migrate() == ["0042_names_of_categories", "0002_counter"]
    assert Pet.find(SHELTER, 1) == Pet(1, "R", 7, "sold")
    columns = (Project.slug, Project.plan, Project.per_minute, Project.per_day)
    assert list(Project.select(*columns).order_by(Project.id).tuples()) == [
        ("shelter", "free", None, None),
        ("rival", "enterprise", 7, 70),
    ]
    roles = [(key.prefix, key.role) for key in Key.select().order_by(Key.prefix)]
    assert roles == [("p", "full"), ("q", "public"), ("r", "read"), ("s", "write")]
    housekeeping.tidy()
    held = [project.rows_held for project in Project.select().order_by(Project.id)]
    assert held == [2, 0]


def test_what_the_release_before_adds_is_found(set_limits: Callable):
    migrator.migrate()
    set_limits(tidied_rows=2)
    insert("category (project_id, id, name) VALUES (1, 8, ' Dogs')")
    for number in range(4):
        insert(
            "pet (project_id, name, category_id, status)"
            f" VALUES (1, 'Ömer {number}', 7, 'available')"
        )
        insert(
            "pet_order (project_id, pet_id, status, created_ms, updated_ms)"
            f" VALUES (1, {number + 2}, 'placed', 0, 0)"
        )
    housekeeping.tidy()
    assert Category.ids_named(SHELTER, "DOGS") == [8]
    for model in (Pet, Order):
        assert model.listed(SHELTER, Part(1), name="omer").total == 4


def test_failed_step_is_applied_again():
    db.execute_sql("CREATE VIEW upload AS SELECT 1 AS at_ms")
    with pytest.raises(DatabaseError):
        migrator.migrate()
    db.execute_sql("DROP VIEW upload")
    assert migrator.migrate()[0] == "0042_names_of_categories"


def test_tables_are_those_of_new(request: pytest.FixtureRequest, unmigrated_url: str):
    migrator.migrate()
    new_url = request.getfixturevalue(f"{unmigrated_url.partition(':')[0]}_url")
    with closing(databases_at(new_url, prepares_statements=False)) as new:
        for old, expected in zip(opened_databases(), new, strict=True):
            migrated, shape = databases.shape_of(old), databases.shape_of(expected)
            assert migrated == {table: shape[table] for table in migrated}


def test_database_of_an_older_release_is_refused():
    db.execute_sql("UPDATE migration SET name = '0004_domains'")
    message = "of a release before 1.1.0 .*; run `flask migrate` of release 1.1.0"
    for run in (migrator.migrate, migrator.require_migrated):
        with pytest.raises(migrator.NotMigrated, match=message):
            run()


def test_ids_are_never_used_twice():
    migrator.migrate()
    members = {"name": "Rex", "category_id": 7, "status": "available"}
    order = Order.place(SHELTER, Pet.add(SHELTER, **members).id)
    OrderTable.delete().execute()
    assert Order.place(SHELTER, Pet.add(SHELTER, **members).id).id > order.id
    Project.delete().where(Project.slug == "rival").execute()
    new = {"slug": "new", "name": "New", "created_ms": 0, "plan": "free"}
    assert Project.create(**new).id >= 3
