"""flask migrate on databases that already hold rows."""

from collections.abc import Callable, Iterator

import pytest
from peewee import DatabaseError, IntegrityError
from playhouse.migrations import Runner

from petstore.models.keys import Key
from petstore.models.orders import Order, OrderTable
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.models.secrets import Secret
from petstore.quotas import housekeeping
from petstore.settings import read_settings
from petstore.storage import migrator
from petstore.storage.database import db, open_databases
from petstore.storage.lists import Part
from tests.cli.outputs import failure
from tests.harness import databases

LAST_OF_1_1_0 = "0026_domain_columns"
SHELTER = 1
NEW = {"slug": "new", "name": "New", "created_ms": 0}


@pytest.fixture
def environ(unmigrated_url: str) -> dict[str, str]:
    return {"DATABASE_URL": unmigrated_url}


@pytest.fixture
def unmigrated(unmigrated_url: str) -> Iterator[None]:
    open_databases(read_settings({"DATABASE_URL": unmigrated_url}))
    yield
    databases.close()


@pytest.fixture
def old(unmigrated: None) -> None:
    """A database of release 1.1.0, with two projects, a key and an animal."""
    Runner(db.obj, str(migrator._DIRECTORY), table_name="migration").up(LAST_OF_1_1_0)
    insert(
        "project (slug, name, plan, per_minute, per_day, created_ms) VALUES"
        " ('shelter', 'S', 'free', NULL, NULL, 0),"
        " ('rival', 'R', 'enterprise', 7, 70, 0)"
    )
    insert("api_key (project_id, prefix, digest, created_ms) VALUES (1, 'p', '', 0)")
    insert(
        "api_key (project_id, prefix, digest, created_ms, role, per_minute, per_day)"
        " VALUES (1, 'q', '', 0, 'read', 5, 50), (1, 'r', '', 0, 'read', NULL, NULL),"
        " (1, 's', '', 0, 'write', 5, 50)"
    )
    insert("pet (project_id, name, category_id, status) VALUES (1, 'R', 7, 'sold')")
    insert("category (project_id, id) VALUES (1, 7)")


def insert(row: str) -> None:
    db.execute_sql(f"INSERT INTO {row}")


@pytest.mark.usefixtures("old")
def test_what_the_release_before_has_added_is_kept():
    steps = [step.stem for step in sorted(migrator._DIRECTORY.glob("00*.py"))[1:]]
    assert migrator.migrate() == [*steps, "0001_usage", "0002_counter"]
    assert Pet.find(SHELTER, 1) == Pet(1, "R", 7, "sold")
    columns = (Project.slug, Project.plan, Project.per_minute, Project.per_day)
    assert list(Project.select(*columns).order_by(Project.id).tuples()) == [
        ("shelter", "free", None, None),
        ("rival", "enterprise", 7, 70),
    ]
    roles = [(key.prefix, key.role) for key in Key.select().order_by(Key.id)]
    assert roles == [("p", "full"), ("q", "public"), ("r", "read"), ("s", "write")]


@pytest.mark.usefixtures("old")
def test_rows_are_counted_once():
    migrator.migrate()
    housekeeping.tidy()
    held = [project.rows_held for project in Project.select().order_by(Project.id)]
    assert held == [2, 0]


@pytest.mark.usefixtures("old")
def test_what_the_release_before_adds_is_found(set_limits: Callable):
    migrator.migrate()
    set_limits(tidied_rows=2)
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
    for model in (Pet, Order):
        assert model.listed(SHELTER, Part(1), name="omer").total == 4


@pytest.mark.usefixtures("old")
def test_failed_step_is_applied_again():
    db.execute_sql("ALTER TABLE project ADD COLUMN rows_held bigint")
    with pytest.raises(DatabaseError):
        migrator.migrate()
    db.execute_sql("ALTER TABLE project DROP COLUMN rows_held")
    assert migrator.migrate()[0] == "0027_rows"


@pytest.mark.usefixtures("clock")
def test_database_of_an_older_release_is_refused(flask: Callable):
    runner = Runner(db.obj, str(migrator._DIRECTORY), table_name="migration")
    runner.up(LAST_OF_1_1_0)
    db.execute_sql("UPDATE migration SET name = '0004_domains'")
    for command in (["migrate"], ["projects", "list"]):
        assert failure(flask(*command)) == (
            "the database is of a release before 1.1.0 (0004_domains); "
            "run `flask migrate` of release 1.1.0 first"
        )


@pytest.mark.parametrize(
    "row",
    [
        {"project": 99, "pet_id": 1, "status": "placed"},
        {"project": SHELTER, "pet_id": 1, "status": "sold"},
        {"project": SHELTER, "pet_id": 1, "status": None},
    ],
)
@pytest.mark.usefixtures("old")
def test_database_rejects_invalid_orders(row: dict):
    migrator.migrate()
    with pytest.raises(IntegrityError):
        OrderTable.create(**row, created_ms=0, updated_ms=0)


@pytest.mark.usefixtures("old")
def test_database_rejects_projects_with_one_limit_or_without_their_keys():
    migrator.migrate()
    for limit in ("per_minute", "per_day"):
        with pytest.raises(IntegrityError):
            Project.create(plan="enterprise", **{limit: 1}, **NEW)
    with pytest.raises(IntegrityError):  # a key refers to it
        Project.delete().where(Project.slug == "shelter").execute()


@pytest.mark.usefixtures("old")
def test_ids_are_never_used_twice():
    migrator.migrate()
    db.execute_sql("UPDATE pet SET status = 'available'")
    order = Order.place(SHELTER, 1)
    db.execute_sql("UPDATE pet SET status = 'available'")
    OrderTable.delete().execute()
    assert Order.place(SHELTER, 1).id > order.id
    Project.delete().where(Project.slug == "rival").execute()
    assert Project.create(plan="free", **NEW).id >= 3


@pytest.mark.usefixtures("unmigrated")
def test_new_installation_gets_an_id_when_it_first_counts():
    migrator.migrate()
    assert Secret.select().count() == 0  # as `flask data copy` needs its target
    assert len(Secret.shared("installation")) > 12
