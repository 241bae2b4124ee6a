"""Migration 0003_orders on a database that already holds animals."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from peewee import DatabaseError, IntegrityError
from playhouse.migrations import Runner

from petstore import migrator
from petstore.database import data, open_databases
from petstore.models.orders import Order, OrderTable
from petstore.models.pets import Pet, PetNotAvailable
from petstore.settings import read_settings
from tests import databases, servers

STEPS = Path(migrator.__file__).parent / "migrations"
BEFORE_ORDERS = "0002_replies"
SHELTER, RIVAL = 1, 2


@contextmanager
def opened(url: str) -> Iterator[None]:
    """Bind the models to this database for the duration of the block."""
    open_databases(read_settings({"DATABASE_URL": url}))
    try:
        yield
    finally:
        databases.close()


@pytest.fixture
def pets(unmigrated_url: str) -> Iterator[list[Pet]]:
    """Animals added before the migration: one per status, and one of a rival."""
    with opened(unmigrated_url):
        Runner(data.obj, str(STEPS), table_name="migration").up(BEFORE_ORDERS)
        for slug in ("shelter", "rival"):
            data.execute_sql(
                "INSERT INTO project (slug, name, plan, created_ms)"
                f" VALUES ('{slug}', '{slug}', 'free', 0)"
            )
        statuses = ("available", "pending", "sold")
        pets = [Pet.add(SHELTER, "Rex", 7, status) for status in statuses]
        yield [*pets, Pet.add(RIVAL, "Tom", 7, "available")]


@pytest.fixture
def migrated(pets: list[Pet]) -> None:
    """Apply the migration to the database of `pets`."""
    assert migrator.migrate()[0] == "0003_orders"


def test_command_applies_the_migration_once(unmigrated_url: str, pets: list[Pet]):
    first, again = (
        servers.flask({"DATABASE_URL": unmigrated_url}, "migrate").stdout.splitlines()
        for _ in range(2)
    )
    assert first[0] == "applied 0003_orders"
    assert again == ["nothing to apply"]


def test_existing_animals_are_unchanged(migrated: None, pets: list[Pet]):
    owners = [SHELTER, SHELTER, SHELTER, RIVAL]
    found = [Pet.find(owner, pet.id) for owner, pet in zip(owners, pets, strict=True)]
    assert found == pets
    assert Order.page(SHELTER, after=0, limit=100, status=None) == []


def test_existing_animals_can_be_ordered(migrated: None, pets: list[Pet]):
    available, pending, sold, _ = pets
    order = Order.place(SHELTER, available.id)
    assert Order.complete(SHELTER, order.id).status == "completed"
    assert Pet.find(SHELTER, available.id).status == "sold"
    for pet in (available, pending, sold):
        with pytest.raises(PetNotAvailable):
            Order.place(SHELTER, pet.id)


def test_table_is_the_same_as_in_a_new_database(
    migrated: None, unmigrated_url: str, request: pytest.FixtureRequest
):
    upgraded = databases.shape_of(data)["pet_order"]
    databases.close()
    engine, _, _ = unmigrated_url.partition(":")
    with opened(request.getfixturevalue(f"{engine}_url")):
        assert databases.shape_of(data)["pet_order"] == upgraded


@pytest.mark.parametrize(
    "row",
    [
        {"project": SHELTER, "pet": 99, "status": "placed"},
        {"project": 99, "pet": 1, "status": "placed"},
        {"project": SHELTER, "pet": 1, "status": "sold"},
        {"project": SHELTER, "pet": 1, "status": None},
    ],
)
def test_database_refuses_invalid_orders(migrated: None, row: dict):
    with pytest.raises(IntegrityError):
        OrderTable.create(**row, created_ms=0, updated_ms=0)


def test_id_of_a_deleted_order_is_not_reused(migrated: None, pets: list[Pet]):
    first = Order.place(SHELTER, pets[0].id)
    OrderTable.delete().execute()
    Pet.move(SHELTER, pets[0].id, "pending", "available")
    assert Order.place(SHELTER, pets[0].id).id > first.id


def test_failed_step_is_applied_again(pets: list[Pet]):
    data.execute_sql("CREATE TABLE pet_order (id bigint)")
    with pytest.raises(DatabaseError):
        migrator.migrate()
    data.execute_sql("DROP TABLE pet_order")
    assert migrator.migrate()[0] == "0003_orders"
