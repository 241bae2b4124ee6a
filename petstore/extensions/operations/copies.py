"""Copies of all data: in a new file, or in another database, while others write."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from peewee import Database, Tuple, chunked

from petstore.extensions.operations.tables import StoredTable, stored_tables
from petstore.storage import Row, migrator
from petstore.storage.database import (
    Databases,
    Engine,
    databases_at,
    opened_databases,
)

OWNER_ALONE = 0o600
READ_AT_ONCE = 1000  # rows; a statement may have 32,766 values


class CopyFailed(Exception):
    """The copy failed, or cannot be made; the text tells the operator why."""


def back_up(source: Database, file: Path) -> None:
    """Copy the data of SQLite, as it is at one moment, into a new file.

    The file gets its name when it is complete and on the disk. No file is overwritten.
    Raises `CopyFailed`.
    """
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".backup-") as private:
            partial = Path(private) / file.name
            os.close(os.open(partial, os.O_CREAT | os.O_EXCL, OWNER_ALONE))
            _copy(source, partial)
            file.hardlink_to(partial)  # which, unlike renaming, replaces no file
        _sync(file.parent)  # SQLite has synced the file
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise CopyFailed(f"{file}: {reason}") from None


def _copy(source: Database, file: Path) -> None:
    with closing(sqlite3.connect(file)) as target:
        # One step copies one moment, while writers go on in the write-ahead log. A copy
        # in several steps would start again after each write, and VACUUM INTO takes
        # three times as long, since it builds the file row by row.
        source.connection().backup(target)
        # The backup is one file, without a write-ahead log.
        target.execute("PRAGMA journal_mode = DELETE")
        [result] = target.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise CopyFailed(f"the database is damaged: {' '.join(result.split())}")


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def copy_to(url: str) -> None:
    """Copy all rows, with their ids, as they are at one moment, to a database at a URL.

    It must be empty, and is migrated first. Today's counts are copied as well, so
    nobody gets a quota twice. Raises `CopyFailed`.
    """
    source = opened_databases()
    with closing(databases_at(url)) as target:
        target.extend_timeouts()
        list(migrator.migrate(target))
        with ExitStack() as stack:
            for database in dict.fromkeys(source):
                stack.enter_context(snapshot(database))
            for database in dict.fromkeys(target):
                stack.enter_context(database.atomic())
            tables = stored_tables(target)
            _require_empty(tables, target)
            for group, old, new in zip(tables, source, target, strict=True):
                for table in group:
                    _copy_table(table, old, new)


def _require_empty(tables: list[list[StoredTable]], target: Databases) -> None:
    for group, database in zip(tables, target, strict=True):
        for table in group:
            if next(read(table, table.key, database), None):
                raise CopyFailed(f"it is not empty: there are rows in {table.name}")


def _copy_table(table: StoredTable, source: Engine, target: Engine) -> None:
    """Copy every row with its id, in a snapshot of the source."""
    described = target.get_columns(table.name)
    names = [each.name for each in described]
    # SQLite has no truth values: it stores 0 and 1.
    are_true = [each.data_type == "boolean" for each in described]
    for rows in chunked(read(table, names, source), READ_AT_ONCE):
        values = [
            [
                bool(value) if is_true and value is not None else value
                for value, is_true in zip(row, are_true, strict=True)
            ]
            for row in rows
        ]
        insert = table.table.insert(values, columns=table.columns(names))
        insert.as_rowcount().execute(target)
    if table.key == ["id"] and (last := last_id(table.name, source)):
        continue_ids_after(table.name, last, target)


@contextmanager
def snapshot(database: Engine) -> Iterator[None]:
    """Read as all data is at one moment, until the block ends."""
    with database.atomic("DEFERRED") if database.file else database.atomic():
        if database.file is None:
            database.execute_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


def read(table: StoredTable, names: list[str], database: Engine) -> Iterator[Row]:
    """Return these columns of every row, in the order of the key."""
    columns, key = table.columns(names), table.columns(table.key)
    places = [names.index(name) for name in table.key]
    select = table.table.select(*columns).order_by(*key).limit(READ_AT_ONCE)
    rows = list(select.tuples().execute(database))
    while rows:
        yield from rows
        last = Tuple(*(rows[-1][place] for place in places))
        rows = list(select.where(Tuple(*key) > last).tuples().execute(database))


def last_id(name: str, database: Engine) -> int:
    """Return the last id that a table has assigned, even to a deleted row; or 0."""
    query = "SELECT last_value FROM pg_sequences WHERE sequencename = %s"
    if database.file:
        query = "SELECT max(seq) FROM sqlite_sequence WHERE name = ?"
    [(last,)] = database.execute_sql(query, (_sequence(name, database),))
    return last or 0


def continue_ids_after(name: str, last: int, database: Engine) -> None:
    query = "SELECT setval(%s, %s)"
    if database.file:
        database.execute_sql("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        query = "INSERT INTO sqlite_sequence VALUES (?, ?)"
    database.execute_sql(query, (_sequence(name, database), last))


def _sequence(name: str, database: Engine) -> str:
    return name if database.file else f"{name}_id_seq"
