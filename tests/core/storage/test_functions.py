"""PostgreSQL finds a key by a function, where `flask migrate` has made that."""

from collections.abc import Callable, Iterator

import pytest

from petstore.models.callers import Caller, select_by_prefix
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.storage import db
from petstore.storage.migrator import MIGRATION_LOCK
from tests.harness.stage import opened

MADE = "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname ~ '^query_[0-9a-f]+$'"
ROLE = (
    "CREATE ROLE reader",
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
    "SET LOCAL SESSION AUTHORIZATION reader",
)


@pytest.fixture(autouse=True)
def database(new_database: Callable[[str], str]) -> Iterator[None]:
    """A database that another release has migrated, so that it lacks the function."""
    with opened({"DATABASE_URL": new_database("postgresql")}):
        yield


@pytest.fixture
def key() -> str:
    return Key.issue(Project.add("Shelter", "shelter", Plan("free")))


def make() -> list[str]:
    """Do as `flask migrate` does, and return the definitions of functions."""
    select_by_prefix.make_function(MIGRATION_LOCK)
    return [row[0] for row in db.execute_sql(MADE).fetchall()]


def test_key_is_found_by_the_function_on_the_next_connection(key: str):
    by_statement = Caller.find_by_key(key)
    assert by_statement.slug == "shelter"
    [made] = make()
    assert make() == [made]
    db.disconnect()
    assert Caller.find_by_key(key) == by_statement
    db.execute_sql(made.replace("BEGIN", "BEGIN RETURN;"))  # it finds nothing now
    assert Caller.find_by_key(key) is None


def test_key_is_found_without_the_function_also_in_a_transaction(key: str):
    make()
    assert Caller.find_by_key(key)
    db.execute_sql(f"DROP FUNCTION {select_by_prefix._compile(db.obj, ()).function}")
    with db.atomic():
        assert Caller.find_by_key(key)
    assert Caller.find_by_key(key)


def test_role_that_may_not_make_functions_migrates_without_them(key: str):
    with db.atomic() as transaction:
        for each in ROLE:
            db.execute_sql(each)
        assert make() == []
        assert Caller.find_by_key(key)
        transaction.rollback()
