"""A copy of the data in one file, made while the service writes."""

import os
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from peewee import Database


class BackupFailed(Exception):
    """The backup failed; the text tells the operator why."""


def back_up(source: Database, file: Path) -> None:
    """Copy the data of SQLite, as it is at one moment, into a new file.

    The file gets its name when it is complete and on the disk. No file is overwritten.
    Raises `BackupFailed`.
    """
    try:
        partial = _new_file_beside(file)
        try:
            _copy(source, partial)
            _link(file, partial)
            _sync(file.parent)
        finally:
            for leftover in (partial, Path(f"{partial}-journal")):
                with suppress(FileNotFoundError):
                    leftover.unlink()
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise BackupFailed(f"{file}: {reason}") from None


def _new_file_beside(file: Path) -> Path:
    """Make an empty file for its owner alone, since the data contains a secret."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    os.close(handle)
    return Path(name)


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
        raise BackupFailed(f"the database is damaged: {' '.join(result.split())}")
    _sync(file)


def _link(file: Path, partial: Path) -> None:
    # Unlike renaming, linking fails if there is a file with that name by now.
    try:
        file.hardlink_to(partial)
    except FileExistsError:
        raise BackupFailed(f"there is a file {file} already") from None


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
