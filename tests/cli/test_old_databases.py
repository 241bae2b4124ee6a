"""flask migrate on databases that already hold rows."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from peewee import DatabaseError, IntegrityError
from playhouse.migrations import Runner

from petstore.models.activity import Activity
from petstore.models.domains import Domain
from petstore.models.failed_requests import FailedRequest
from petstore.models.key_usage import KeyUsage
from petstore.models.keys import Key
from petstore.models.orders import Order, OrderTable
from petstore.models.pets import Pet, PetNotAvailable
from petstore.models.projects import Plan, Project, SlugRetired
from petstore.models.secrets import Secret
from petstore.models.sessions import Session
from petstore.settings import read_settings
from petstore.storage import migrator
from petstore.storage.database import db, open_databases
from tests.harness import databases
from tests.harness.waiting import wait_until

STEPS = Path(migrator.__file__).parent / "migrations"
SHELTER = 1
RENAMED_BETWEEN_RELEASES = (
    ("domain", "looked_ms", "checked_ms"),
    ("domain", "astray_ms", "misdirected_since_ms"),
    ("domain", "certificate_asked_ms", "certificate_requested_ms"),
    ("domain_token", "turn_ends_ms", "locked_until_ms"),
)
NEW = {"slug": "new", "name": "New", "created_ms": 0}


@pytest.fixture
def migrated_to(unmigrated_url: str) -> Iterator[Callable[[str], None]]:
    """A function that migrates to a step, and adds two projects."""

    def migrated_to(step: str) -> None:
        Runner(db.obj, str(STEPS), table_name="migration").up(step)
        insert(
            "project (slug, name, plan, per_minute, per_day, created_ms) VALUES"
            " ('shelter', 'S', 'free', NULL, NULL, 0),"
            " ('rival', 'R', 'enterprise', 7, 70, 0)"
        )

    open_databases(read_settings({"DATABASE_URL": unmigrated_url}))
    yield migrated_to
    databases.close()


def insert(row: str) -> None:
    db.execute_sql(f"INSERT INTO {row}")


@pytest.fixture
def pets(migrated_to: Callable[[str], None]) -> list[Pet]:
    """An animal of each status, added before there were orders."""
    migrated_to("0002_replies")
    statuses = ("available", "pending", "sold")
    return [
        Pet.add(SHELTER, name="Rex", category_id=7, status=status)
        for status in statuses
    ]


def test_existing_animals_are_kept_and_can_be_ordered(pets: list[Pet]):
    assert migrator.migrate()[0] == "0003_orders"
    assert [Pet.find(SHELTER, pet.id) for pet in pets] == pets
    order = Order.place(SHELTER, pets[0].id)
    assert Order.complete(SHELTER, order.id).status == "completed"
    for pet in pets:
        with pytest.raises(PetNotAvailable):
            Order.place(SHELTER, pet.id)


def test_id_of_a_deleted_order_is_not_reused(pets: list[Pet]):
    migrator.migrate()
    order = Order.place(SHELTER, pets[0].id)
    Pet.release(SHELTER, pets[0].id, "available")
    OrderTable.delete().execute()
    assert Order.place(SHELTER, pets[0].id).id > order.id


@pytest.mark.parametrize(
    "row",
    [
        {"project": 99, "pet_id": 1, "status": "placed"},
        {"project": SHELTER, "pet_id": 1, "status": "sold"},
        {"project": SHELTER, "pet_id": 1, "status": None},
    ],
)
def test_database_rejects_invalid_orders(pets: list[Pet], row: dict):
    migrator.migrate()
    with pytest.raises(IntegrityError):
        OrderTable.create(**row, created_ms=0, updated_ms=0)


def test_failed_step_is_applied_again(pets: list[Pet]):
    db.execute_sql("CREATE TABLE pet_order (id bigint)")
    with pytest.raises(DatabaseError):
        migrator.migrate()
    db.execute_sql("DROP TABLE pet_order")
    assert migrator.migrate()[0] == "0003_orders"


def test_existing_orders_are_kept_and_stay_when_their_animal_is_withdrawn(
    migrated_to: Callable[[str], None],
):
    migrated_to("0019_activity")
    insert(
        "pet (project_id, name, category_id, status) VALUES (1, 'R', 7, 'available')"
    )
    order = "pet_order (project_id, pet_id, status, created_ms, updated_ms)"
    for _ in range(2):
        insert(f"{order} VALUES (1, 1, 'cancelled', 5, 5)")
    OrderTable.delete().where(OrderTable.id == 2).execute()
    migrator.migrate()
    Pet.withdraw(SHELTER, 1)
    insert(f"{order} VALUES (1, 1, 'cancelled', 5, 5)")  # as the version before
    kept, new = (Order.find(SHELTER, order_id) for order_id in (1, 3))
    assert kept == Order(1, 1, "cancelled", None, 5, 5)
    assert new == kept._replace(id=3)


@pytest.mark.parametrize("unmigrated_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("tables", [("pet", "pet_order"), ("pet_order", "pet")])
def test_a_migration_and_a_request_that_locks_both_tables_are_no_deadlock(
    migrated_to: Callable[[str], None], unmigrated_url: str, tables: tuple[str, str]
):
    migrated_to("0021_pet_filters")
    first, second = (f"UPDATE {table} SET status = status" for table in tables)
    with (
        ThreadPoolExecutor() as threads,
        psycopg.connect(unmigrated_url, autocommit=True) as watch,
        psycopg.connect(unmigrated_url) as request,
    ):
        request.execute(first)
        migration = threads.submit(migrate_and_close)
        waits = "SELECT FROM pg_locks WHERE NOT granted"
        wait_until(lambda: watch.execute(waits).fetchone() == (), "nobody waits")
        request.execute(second)
        request.commit()
        assert migration.result()[0] == "0022_withdrawals"


def migrate_and_close() -> list[str]:
    """Migrate in another thread, whose connections must not outlive it."""
    try:
        return migrator.migrate()
    finally:
        databases.close()


@pytest.fixture
def old(migrated_to: Callable[[str], None]) -> None:
    """A key with a session, before ended keys were deleted and plans were free."""
    migrated_to("0007_turns")
    insert("api_key (project_id, prefix, digest, created_ms) VALUES (1, 'p', '', 0)")
    insert("session (digest, key_id, ends_ms) VALUES ('d', 1, 5)")


@pytest.mark.usefixtures("old")
def test_sessions_go_on_until_their_key_is_deleted():
    migrator.migrate()
    [session] = Session.select()
    assert (session.digest, session.key_id, session.ends_ms) == ("d", 1, 5)
    Key.delete().execute()
    assert Session.select().count() == 0


@pytest.mark.usefixtures("old")
def test_keys_from_before_and_of_the_version_before_are_full():
    migrator.migrate()
    insert("api_key (project_id, prefix, digest, created_ms) VALUES (1, 'n', '', 0)")
    columns = (Key.role, Key.per_minute, Key.per_day, Key.origins)
    assert list(Key.select(*columns).tuples()) == [("full", None, None, None)] * 2


@pytest.mark.usefixtures("old")
def test_version_before_deletes_projects_with_rows_that_it_does_not_know():
    migrator.migrate()
    insert("activity (project_id, at_ms, name, actor, facts) VALUES (1, 0, '', '', '')")
    insert(
        "failed_request (project_id, at_ms, operation, status, code, message,"
        " key_prefix, request_id) VALUES (1, 0, '', 0, '', '', '', '')"
    )
    insert("key_usage (key_id, day, served, refused) VALUES (1, 0, 0, 0)")
    Key.delete().execute()
    Project.delete().where(Project.slug == "shelter").execute()
    for table in (Activity, FailedRequest, KeyUsage):
        assert table.select().count() == 0


@pytest.mark.usefixtures("old")
def test_projects_are_kept_and_another_plan_is_allowed():
    with pytest.raises(IntegrityError):
        Project.create(plan="team", **NEW)
    assert "0010_plans" in migrator.migrate()
    columns = (Project.slug, Project.plan, Project.per_minute, Project.per_day)
    assert list(Project.select(*columns).order_by(Project.id).tuples()) == [
        ("shelter", "free", None, None),
        ("rival", "enterprise", 7, 70),
    ]
    Project.create(plan="team", **NEW)
    assert Project.by_slug("new").plan == "team"


@pytest.mark.usefixtures("old")
def test_constraints_of_projects_and_their_last_id_are_kept():
    migrator.migrate()
    for limit in ("per_minute", "per_day"):
        with pytest.raises(IntegrityError):
            Project.create(plan="enterprise", **{limit: 1}, **NEW)
    with pytest.raises(IntegrityError):  # a key refers to it
        Project.delete().where(Project.slug == "shelter").execute()
    Project.delete().where(Project.slug == "rival").execute()
    assert Project.create(plan="free", **NEW).id >= 3


@pytest.mark.usefixtures("old")
def test_columns_that_were_renamed_between_releases_have_their_old_names_again():
    Runner(db.obj, str(STEPS), table_name="migration").up("0025_unused_indexes")
    columns = "project_id, name, created_ms, is_chosen, looked_ms"
    insert(f"domain ({columns}) VALUES (1, 'a.b', 0, FALSE, 7)")
    db.execute_sql("DROP INDEX domain_looked_ms")
    for table, before, renamed in RENAMED_BETWEEN_RELEASES:
        db.execute_sql(f"ALTER TABLE {table} RENAME COLUMN {before} TO {renamed}")
    db.execute_sql("CREATE INDEX domain_checked_ms ON domain (checked_ms)")
    assert migrator.migrate()[0] == "0026_domain_columns"
    assert [domain.checked_ms for domain in Domain.select()] == [7]
    _, indexes, _ = databases.shape_of(db)["domain"]
    assert "domain_looked_ms" in [index.name for index in indexes]


@pytest.mark.usefixtures("old")
def test_slugs_of_existing_projects_are_not_given_again():
    migrator.migrate()
    Project.by_slug("rival").mark_deleted()
    with pytest.raises(SlugRetired):
        Project.add("Rival", "rival", Plan("free"))
    assert Project.add("S", "s", Plan("free")).slug == "s"


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("unmigrated_url", ["sqlite"], indirect=True)
def test_sqlite_finds_its_file_intact():
    migrator.migrate()
    databases.close()
    assert db.execute_sql("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert db.execute_sql("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.usefixtures("old")
def test_installation_with_projects_goes_on_to_count_without_an_id():
    migrator.migrate()
    assert Secret.shared("installation") == ""


def test_new_installation_gets_an_id_when_it_first_counts(unmigrated_url: str):
    open_databases(read_settings({"DATABASE_URL": unmigrated_url}))
    migrator.migrate()
    assert Secret.select().count() == 0  # as `flask data copy` needs its target
    assert len(Secret.shared("installation")) > 12
    databases.close()
