"""SQLite behind Peewee's interface, on a file that may fail at any time."""

import asyncio
import os
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from typing import Any

import peewee

from petstore import waiting
from petstore.engines.base import RequestDatabase, as_peewee_errors
from petstore.engines.files import make_private
from petstore.engines.group_commit import (
    BUSY_SECONDS,
    RETRY_SECONDS,
    GroupCommit,
    is_busy,
)
from petstore.statements import slot

EXTENDED_BUSY_SECONDS = 30  # in commands
# How long a statement of the counters waits for a lock. In an event loop it counts
# attempts, RETRY_SECONDS apart: on a busy machine these take longer, and that must not
# be mistaken for a counter store that is away.
HIT_BUSY_SECONDS = 0.2
HIT_TRIES = 150
# After so many statements a thread checkpoints the write-ahead log, while others write
# on. SQLite itself checkpoints a log of so many pages (128 MiB) within the statement
# that reaches the limit; no other write can then keep the log from starting again.
HITS_UNTIL_CHECKPOINT = 2048
COUNTER_PAGES = 32_768

# Error codes that concern the disk or the file, not the statement.
OUTAGES = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOTADB,
}
NEEDS_REOPENING = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOTADB,
}


class Rows:
    """All rows of a finished statement, used in place of its cursor.

    A statement with rows that were not fetched would block the commit.
    """

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._rows = iter(cursor.fetchall())
        self.description = cursor.description
        self.rowcount = cursor.rowcount
        self.lastrowid = cursor.lastrowid

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, or None."""
        return next(self._rows, None)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return the rows that are left."""
        return list(self._rows)

    def close(self) -> None:
        """Do nothing: the statement has finished."""


class OpenedFile:
    """The database file that was opened first.

    If it is replaced, writes must stop: what is written into another file is lost.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None

    def remember(self) -> None:
        """Remember which file this is, at the first call."""
        self._identity = self._identity or self._read_identity()

    def is_unchanged(self) -> bool:
        """Return whether the path still leads to the file that was opened first."""
        return self._identity in (None, self._read_identity())

    def require(self) -> None:
        """Raise `peewee.OperationalError` if the file was removed or replaced."""
        if not self.is_unchanged():
            raise peewee.OperationalError("the file has been removed or replaced")

    def _read_identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_dev, status.st_ino


class Sqlite(RequestDatabase, peewee.SqliteDatabase):
    """An SQLite file in WAL mode, with a connection for each thread.

    Requests of an event loop read on the connection of their thread, which never waits
    for a lock, and write through a `GroupCommit`.
    """

    # All processes are on one machine, so statements get the time of the process.
    now_ms = slot("now_ms")
    busy_seconds: float = BUSY_SECONDS

    def __init__(self, path: str, **pragmas: str | int) -> None:
        self._file = OpenedFile(path)
        self._threads = threading.local()
        self._group_commit = GroupCommit(self._connect)
        super().__init__(
            path,
            pragmas={"journal_mode": "wal", "foreign_keys": 1} | pragmas,
            returning_clause=True,
            check_same_thread=False,
            timeout=0,  # `_open` tries again
        )

    def writing(self, _project_id: int, **_limits: int) -> AbstractContextManager[Any]:
        """Run the block in a transaction; SQLite allows only one writer at a time."""
        return self.atomic()

    def lock_until_commit(self, _number: int) -> None:
        """Do nothing: a transaction already excludes all other writers."""

    def is_locked(self, _error: peewee.PeeweeException) -> bool:
        """Return False: a transaction that has begun never waits for another."""
        return False

    def is_outage(self, error: peewee.PeeweeException) -> bool:
        """Return whether the file or its disk has failed, not the statement."""
        return isinstance(error, peewee.DatabaseError) and _code_of(error) in OUTAGES

    def extend_timeouts(self) -> None:
        """Wait longer for locks, for commands; close the connections of this thread."""
        self.busy_seconds = EXTENDED_BUSY_SECONDS
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connections of this thread."""
        if waiting.can_await():
            self._group_commit.close()
        connection = self._threads.__dict__.pop("connection", None)
        if connection:
            connection.close()

    def recover(self, error: peewee.PeeweeException) -> None:
        """Close the connections where the next statement should open the file again.

        A file that was opened on a read-only disk stays read-only until then. On a full
        disk the open connections still read, while a new one could not be opened.
        """
        if _code_of(error) in NEEDS_REOPENING and self._file.is_unchanged():
            self.disconnect()

    def dispose(self) -> None:
        """Drop all connections without closing them: they belong to another process."""
        self._threads = threading.local()
        self._group_commit = GroupCommit(self._connect)

    def connection(self) -> sqlite3.Connection:
        """Return the connection of the transaction, or else of the thread."""
        return self._state.conn or self._thread_connection()

    def cursor(self, named_cursor: None = None) -> sqlite3.Cursor:
        """Return a new cursor of that connection."""
        return self.connection().cursor()

    def begin(self, lock_type: str = "IMMEDIATE") -> None:
        """Begin a transaction; raises `peewee.OperationalError` if the file is gone."""
        self._file.require()
        with as_peewee_errors:
            if waiting.can_await():
                self._bind_connection(self._group_commit.begin())
            else:
                connection = self._thread_connection()
                connection.execute(f"BEGIN {lock_type}")
                self._bind_connection(connection)

    def commit(self) -> None:
        """Commit the transaction; its writes are then on the disk."""
        with as_peewee_errors:
            if waiting.can_await():
                # The request leaves the transaction first: if the shared commit fails,
                # Peewee must not roll back the transaction of other requests.
                self._group_commit.commit(self._unbind_connection())
            else:
                self._state.conn.execute("COMMIT")
                self._unbind_connection()

    def rollback(self) -> None:
        """Roll back the transaction."""
        connection = self._unbind_connection()
        if connection is None:
            return
        with as_peewee_errors:
            if waiting.can_await():
                self._group_commit.rollback(connection)
            # After some errors (a full disk) SQLite has rolled back by itself.
            elif connection.in_transaction:
                connection.execute("ROLLBACK")

    def _run(self, sql: str, params: Any) -> Rows:
        cursor = super()._run(sql, params)
        with as_peewee_errors:
            return Rows(cursor)

    def _thread_connection(self) -> sqlite3.Connection:
        """Return the connection of this thread."""
        try:
            return self._threads.connection
        except AttributeError:
            with as_peewee_errors:
                self._threads.connection = self._connect()
            return self._threads.connection

    def _connect(self) -> sqlite3.Connection:
        self._file.require()
        make_private(self.database)
        connection = self._open()
        self._file.remember()
        # The event loop must go on, so requests retry instead.
        seconds = 0 if waiting.can_await() else self.busy_seconds
        connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
        return connection

    def _open(self) -> sqlite3.Connection:
        # Another process may be switching a new file to WAL mode.
        seconds = BUSY_SECONDS if waiting.can_await() else EXTENDED_BUSY_SECONDS
        deadline = time.monotonic() + seconds
        while True:
            try:
                return super()._connect()  # type: ignore[misc]  # internal
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
            waiting.wait(asyncio.sleep(RETRY_SECONDS))


class SqliteCounters(Sqlite):
    """The counters in an SQLite file, written without waiting for the disk."""

    busy_seconds = HIT_BUSY_SECONDS

    def __init__(self, path: str) -> None:
        super().__init__(path, synchronous="normal", wal_autocheckpoint=COUNTER_PAGES)
        self._hits = 0
        self._checkpoints = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")

    def execute_sql(self, sql: str, params: Any = None) -> Rows:
        """Run a statement and return its cursor."""
        self._hits += 1
        if self._hits % HITS_UNTIL_CHECKPOINT == 0 and waiting.can_await():
            self._checkpoints.submit(self._checkpoint)
        attempts_left = HIT_TRIES if waiting.can_await() else 1
        while True:
            try:
                return self._run(sql, params)
            except peewee.OperationalError as error:
                attempts_left -= 1
                if not (attempts_left and is_busy(error.__context__)):
                    raise
            waiting.wait(asyncio.sleep(RETRY_SECONDS))

    def _checkpoint(self) -> None:
        # If it fails, the next one may succeed.
        with suppress(sqlite3.Error, peewee.PeeweeException):
            self._thread_connection().execute("PRAGMA wal_checkpoint(PASSIVE)")


def _code_of(error: peewee.PeeweeException) -> int:
    code: int = getattr(error.__context__, "sqlite_errorcode", sqlite3.SQLITE_IOERR)
    return code & 0xFF
