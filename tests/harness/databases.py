"""Helpers that close, empty and inspect the databases of this process."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import peewee
import psycopg
import pytest

from petstore.storage import counters, db
from petstore.storage.sqlite import Sqlite

Shape = dict[str, tuple[list, list, list]]


def disconnect() -> None:
    """Close the connections of this thread and all idle connections."""
    for database in {db.obj, counters.obj} - {None}:
        database.disconnect()


def forget() -> None:
    """Let others be opened, as a new process does."""
    db.initialize(None)
    counters.initialize(None)


@contextmanager
def set_aside() -> Iterator[None]:
    """Let the block use databases of its own; those that are open are kept for later.

    What the block has opened is closed at its end.
    """
    kept = db.obj, counters.obj
    forget()
    try:
        yield
    finally:
        disconnect()
        db.initialize(kept[0])
        counters.initialize(kept[1])


def forget_power_cuts() -> None:
    """Let SQLite in this process not wait for the disk, as PostgreSQL does not.

    The services that tests start wait for it.
    """
    init = Sqlite.__init__

    def init_unsynchronized(self: Sqlite, path: str, **pragmas: str | int) -> None:
        init(self, path, **pragmas | {"synchronous": "off"})

    Sqlite.__init__ = init_unsynchronized


EMPTY = Path(__file__).with_name("empty_tables.sql").read_text()


def empty(connection: psycopg.Connection) -> None:
    """Delete all rows of a PostgreSQL database, and restart its sequences."""
    connection.execute("SELECT empty_tables()")


def shape_of(database: object) -> Shape:
    """Return the columns, indexes and foreign keys of each table."""
    return {
        table: (
            sorted(database.get_columns(table)),
            sorted(map(_plain, filter(_is_made, database.get_indexes(table)))),
            sorted(database.get_foreign_keys(table)),
        )
        for table in database.get_tables()
        if not table.endswith("migration") and not table.startswith("sqlite_")
    }


def _is_made(index: peewee.IndexMetadata) -> bool:
    # A table of SQLite without row ids has no index for its primary key.
    return not index.name.startswith("sqlite_")


def _plain(index: peewee.IndexMetadata) -> peewee.IndexMetadata:
    # SQLite keeps the text that has made an index, however it was quoted.
    return index._replace(sql=re.sub('[ "()]', "", index.sql or ""))


@contextmanager
def locked(file: str) -> Iterator[None]:
    """Lock an SQLite file for all other writers."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def applied_by_a_newer_version(step: str) -> Iterator[None]:
    """Let the database say for the block that this migration was applied."""
    db.execute_sql(
        f"INSERT INTO migration (name, applied) VALUES ('{step}', CURRENT_TIMESTAMP)"
    )
    try:
        yield
    finally:
        db.execute_sql(f"DELETE FROM migration WHERE name = '{step}'")


# For tests of what is refused before the database is used: one engine is enough.
@pytest.fixture(params=["sqlite", "postgresql"])
def each_engine(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database, for each engine in turn.

    Where all tests depend on the engine, `database_url` is this.
    """
    return request.getfixturevalue(f"{request.param}_url")


of_one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
of_both_engines = pytest.mark.parametrize(
    "database_url", ["sqlite", "postgresql"], indirect=True
)
