"""Copies of all data: in a new file, or in another database, while others write."""

import os
import sqlite3
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

from peewee import Database, chunked

from petstore.storage import migrator
from petstore.storage.database import (
    Databases,
    Engine,
    databases_at,
    opened_databases,
)
from petstore.storage.tables import READ_AT_ONCE, StoredTable, stored_tables

OWNER_ALONE = 0o600


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
        migrator.migrate(target)
        with ExitStack() as stack:
            for database in dict.fromkeys(source):
                stack.enter_context(database.snapshot())
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
            if next(table.read(database), None):
                raise CopyFailed(f"it is not empty: there are rows in {table.name}")


def _copy_table(table: StoredTable, source: Engine, target: Engine) -> None:
    """Copy every row with its id, in a snapshot of the source."""
    columns = table.columns([*table.types])
    # SQLite has no truth values: it stores 0 and 1.
    are_true = [kind == "boolean" for kind in table.types.values()]
    for rows in chunked(table.read(source), READ_AT_ONCE):
        values = [
            [
                bool(value) if is_true and value is not None else value
                for value, is_true in zip(row, are_true, strict=True)
            ]
            for row in rows
        ]
        table.table.insert(values, columns=columns).as_rowcount().execute(target)
    if table.key == ["id"] and (last := source.last_id(table.name)):
        target.continue_ids_after(table.name, last)
