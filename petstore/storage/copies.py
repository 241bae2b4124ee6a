"""Copies of all data: in a new file, or in another database, while others write."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from peewee import BigAutoField, Database, Model, Tuple, chunked

from petstore.storage import migrator
from petstore.storage.database import (
    Databases,
    Engine,
    databases_at,
    opened_databases,
)
from petstore.storage.engine import BaseModel, CounterModel, Row
from petstore.storage.sqlite import make_private


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
            make_private(str(partial))
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


COPIED_AT_ONCE = 1000  # rows; a statement may have 32,766 values


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
            _require_empty(target)
            for group, old, new in zip(table_groups(), source, target, strict=True):
                for table in group:
                    _copy_table(table, old, new)


def _require_empty(target: Databases) -> None:
    for group, database in zip(table_groups(), target, strict=True):
        for table in group:
            if table.select().exists(database):
                name = table._meta.table_name
                raise CopyFailed(f"it is not empty: there are rows in {name}")


def table_groups() -> tuple[list[type[Model]], list[type[Model]]]:
    """Return the tables of the data and of the counters, each after those it needs."""
    tables, counts = BaseModel.__subclasses__(), CounterModel.__subclasses__()
    return sorted(tables, key=_depth), sorted(counts, key=_depth)


def _depth(table: type[Model]) -> int:
    """Return the length of the longest chain of references from this table on."""
    return 1 + max(map(_depth, table._meta.refs.values()), default=0)


def _copy_table(table: type[Model], source: Engine, target: Engine) -> None:
    """Copy every row with its id, in a snapshot of the source."""
    fields = table._meta.sorted_fields
    for rows in chunked(rows_of(source, table), COPIED_AT_ONCE):
        table.insert_many(rows, fields).as_rowcount().execute(target)
    name = table._meta.table_name
    is_numbered = isinstance(table._meta.primary_key, BigAutoField)
    if is_numbered and (last := source.last_id(name)):
        target.continue_ids_after(name, last)


def rows_of(database: Engine, table: type[Model]) -> Iterator[Row]:
    """Return every row of the table, in Python's types; to be called in a snapshot."""
    fields, keys = table._meta.sorted_fields, table._meta.get_primary_keys()
    select = table.select().order_by(*keys).limit(COPIED_AT_ONCE)
    rows = list(select.tuples().execute(database))
    while rows:
        yield from rows
        last = dict(zip(fields, rows[-1], strict=True))
        is_after = Tuple(*keys) > Tuple(*(last[key] for key in keys))
        rows = list(select.where(is_after).tuples().execute(database))
