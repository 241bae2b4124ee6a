"""SQLite, embedded, on a file that may fail at any step, or be gone."""

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import peewee

from petstore import waiting
from petstore.engines.base import READS, RequestDatabase, as_peewee_errors
from petstore.engines.files import make_private
from petstore.engines.group_commit import RETRY_SECONDS, GroupCommit, is_busy
from petstore.statements import slot

BUSY_SECONDS = 5  # in threads; see GroupCommit for requests in an event loop
EXTENDED_BUSY_SECONDS = 30  # in commands
# A hit waits less for a lock than for a counter store that is away. An event loop
# counts tries, a millisecond apart, in place of seconds: a busy machine takes longer
# for each, and is no reason to count elsewhere.
HIT_BUSY_SECONDS = 0.2
HIT_TRIES = 150
# After so many hits a thread takes what they have written to the disk. To begin the log
# anew is left to a hit that finds it long, 128 MiB, since no other may come meanwhile.
HITS_UNTIL_CHECKPOINT = 2048
COUNTER_PAGES = 32_768

# What SQLite reports of a disk or a file, not of a statement.
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


class Rows:
    """The cursor of a statement whose transaction has ended, with all its rows."""

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._rows = iter(cursor.fetchall())
        self.description = cursor.description
        self.rowcount = cursor.rowcount
        self.lastrowid = cursor.lastrowid

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, if there is one."""
        return next(self._rows, None)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        return list(self._rows)

    def close(self) -> None:
        """Nothing to do: the statement has ended."""


class Cursor(sqlite3.Cursor):
    """A statement that writes and returns rows may fail while these are fetched."""

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, if there is one."""
        with as_peewee_errors:
            return super().fetchone()

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        with as_peewee_errors:
            return super().fetchall()


class Connection(sqlite3.Connection):
    """A connection whose failures are Peewee's."""

    # Only Peewee calls it, and without arguments.
    def cursor(self) -> sqlite3.Cursor:  # type: ignore[override]
        """What runs a statement."""
        return super().cursor(Cursor)


class OpenedFile:
    """The file that was opened first: what is written into another one is lost."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None

    def remember(self) -> None:
        """Remember the file, the first time."""
        self._identity = self._identity or self._read_identity()

    def is_unchanged(self) -> bool:
        """Whether the file is still there, if it was ever opened."""
        return self._identity in (None, self._read_identity())

    def require(self) -> None:
        """Raise unless the file is still there."""
        if not self.is_unchanged():
            raise peewee.OperationalError("the file has been removed or replaced")

    def _read_identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_dev, status.st_ino


class Sqlite(RequestDatabase, peewee.SqliteDatabase):
    """A file in WAL mode; each thread keeps a connection to it.

    Requests of an event loop read on the connection of their thread, which never waits,
    and write by a `GroupCommit`.
    """

    # One machine, one clock: each run of a statement is given the process's time.
    now_ms = slot("now_ms")
    busy_seconds: float = BUSY_SECONDS

    def __init__(self, path: str, **pragmas: str | int) -> None:
        self._file = OpenedFile(path)
        self._threads = threading.local()
        self._group_commit = GroupCommit(self._connect)
        self._has_extended_timeouts = False
        super().__init__(
            path,
            pragmas={"journal_mode": "wal", "foreign_keys": 1} | pragmas,
            returning_clause=True,
            check_same_thread=False,
            factory=Connection,
        )

    @contextmanager
    def writing(self, _number: int, **_limits: int) -> Iterator[None]:
        """A transaction, whatever the project: there is one writer at a time."""
        with self.atomic():
            yield

    def lock_until_commit(self, _number: int) -> None:
        """Nothing to do: a transaction has already shut out every other writer."""

    def is_locked(self, _error: peewee.PeeweeException) -> bool:
        """Never: no transaction waits for another once it has begun."""
        return False

    def is_outage(self, error: peewee.PeeweeException) -> bool:
        """Whether the file or its disk has failed, and not the statement."""
        code = getattr(error.__context__, "sqlite_errorcode", sqlite3.SQLITE_IOERR)
        return isinstance(error, peewee.DatabaseError) and code & 0xFF in OUTAGES

    def extend_timeouts(self) -> None:
        """Wait longer for locks, as a command may."""
        self._has_extended_timeouts = True
        self.disconnect()

    def disconnect(self) -> None:
        """End the connections of this thread."""
        if waiting.can_await():
            self._group_commit.close()
        connection = self._threads.__dict__.pop("connection", None)
        if connection:
            connection.close()

    def recover(self) -> None:
        """Open the file anew: what was opened on a read-only disk stays read-only."""
        if self._file.is_unchanged():
            self.disconnect()

    def dispose(self) -> None:
        """Forget all connections without a word: they are another process's."""
        self._threads = threading.local()
        self._group_commit = GroupCommit(self._connect)

    def connection(self) -> Connection:
        """The connection of the present transaction, else that of the thread."""
        return self._state.conn or self._thread_connection()

    def cursor(self, named_cursor: None = None) -> sqlite3.Cursor:
        """What runs a statement on that connection."""
        return self.connection().cursor()

    def begin(self, lock_type: str = "IMMEDIATE") -> None:
        """Begin a transaction, in the file that is still there."""
        self._file.require()
        with as_peewee_errors:
            if waiting.can_await():
                self._bind_connection(self._group_commit.begin())
            else:
                connection = self._thread_connection()
                connection.execute(f"BEGIN {lock_type}")
                self._bind_connection(connection)

    def commit(self) -> None:
        """Return when what was written is on the disk."""
        with as_peewee_errors:
            if waiting.can_await():
                # Of this request there is nothing left to roll back.
                self._group_commit.commit(self._unbind_connection())
            else:
                self._state.conn.execute("COMMIT")
                self._unbind_connection()

    def rollback(self) -> None:
        """Undo the transaction."""
        connection = self._unbind_connection()
        if connection is None:
            return
        with as_peewee_errors:
            if waiting.can_await():
                self._group_commit.rollback(connection)
            # After some failures (a full disk) SQLite has undone it already.
            elif connection.in_transaction:
                connection.execute("ROLLBACK")

    def _run(self, sql: str, params: Any) -> sqlite3.Cursor | Rows:
        cursor = super()._run(sql, params)
        # A statement that still has rows to return keeps a commit from happening.
        return cursor if sql.startswith(READS) else Rows(cursor)

    def _thread_connection(self) -> Connection:
        """The connection of this thread."""
        try:
            return self._threads.connection
        except AttributeError:
            with as_peewee_errors:
                self._threads.connection = self._connect()
            return self._threads.connection

    def _connect(self) -> Connection:
        self._file.require()
        make_private(self.database)
        connection = self._open()
        self._file.remember()
        seconds = (
            EXTENDED_BUSY_SECONDS if self._has_extended_timeouts else self.busy_seconds
        )
        if waiting.can_await():
            seconds = 0  # the loop must go on; who has to wait tries again
        connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
        return connection

    def _open(self) -> Connection:
        # While another process makes a new file a WAL one, this one is refused at
        # once; for everything else SQLite waits.
        deadline = time.monotonic() + EXTENDED_BUSY_SECONDS
        while True:
            try:
                return super()._connect()  # type: ignore[misc]  # internal
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(RETRY_SECONDS)


class SqliteCounters(Sqlite):
    """Counters, whose hits are written one by one, without waiting for the disk."""

    busy_seconds = HIT_BUSY_SECONDS

    def __init__(self, path: str) -> None:
        super().__init__(path, synchronous="normal", wal_autocheckpoint=COUNTER_PAGES)
        self._hits = 0
        self._checkpoints = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")

    def execute_sql(self, sql: str, params: Any = None) -> sqlite3.Cursor | Rows:
        """Run a statement, and return its cursor."""
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
        with suppress(sqlite3.Error, peewee.PeeweeException):  # later, then
            self._thread_connection().execute("PRAGMA wal_checkpoint(PASSIVE)")
