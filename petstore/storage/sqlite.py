"""SQLite behind Peewee's interface, on a file that may fail at any time."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any, TypeVar

import peewee
from peewee import SQL, ColumnBase, Expression, Model, Select, fn

from petstore import clock, timeouts
from petstore.concurrency import call_in_thread
from petstore.storage.engine import (
    Busy,
    CompiledSql,
    Engine,
    Locked,
    Pairs,
    Row,
    as_peewee_errors,
    placeholder,
    seconds_left,
)

Result = TypeVar("Result")

BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
NEEDS_REOPENING = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOTADB,
}
# Error codes that concern the disk or the file, not the statement.
OUTAGES = {
    *BUSY,
    *NEEDS_REOPENING,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_PROTOCOL,
}

OWNER_ALONE = 0o600  # since the files contain the signing secret


class RolledBack(peewee.OperationalError):
    """SQLite has rolled back a transaction by itself, as it does on a full disk."""


class Sqlite(Engine, peewee.SqliteDatabase):
    """An SQLite file in WAL mode: readers never wait, and one request writes at a time.

    SQLite itself would block all greenlets while it waits for a lock of another
    process, and while COMMIT waits for the disk. So a locked file is tried again, and
    COMMIT runs in a thread.
    """

    now_ms = placeholder("now_ms")  # of this process: all are on one machine
    placeholder_format = staticmethod(":{}".format)
    # Where a text begins in another one; 0 if nowhere.
    position = staticmethod(fn.INSTR)

    _writing: Any  # the connection that has begun to write, or None

    def __init__(self, path: str, **pragmas: str | int) -> None:
        self.file: Path = Path(path)
        self._busy_seconds = timeouts.LIMITS.busy_seconds
        super().__init__(
            f"{self.file.absolute().as_uri()}?mode=rw",  # which creates no file
            uri=True,
            pragmas={"journal_mode": "wal", "foreign_keys": 1} | pragmas,
            check_same_thread=False,
            timeout=0,
        )

    def create(self) -> None:
        make_private(str(self.file))

    def fault(self) -> str | None:
        """Return what to do if there is no file, since its name may be mistyped."""
        if self.file.exists():
            return None
        if not self.file.parent.is_dir():
            return f"there is no directory {self.file.parent}; make it first"
        return f"there is no file {self.file}; run `flask migrate` first"

    # Peewee passes the arguments of `atomic` to `begin`.
    def begin(self, lock_type: str = "IMMEDIATE", lock_id: int | None = None) -> None:
        """Begin a transaction; raises `Locked` if others keep the file locked.

        It excludes all other writers, so a number needs no lock.
        """
        if lock_type == "DEFERRED":
            super().begin(lock_type)
            return
        self.connection()
        seconds = seconds_left(self._busy_seconds)
        if not self._writer.acquire(blocking=False):
            self._wait_for_writer(seconds)
        try:
            with as_peewee_errors:
                self._try(self._state.conn.execute, f"BEGIN {lock_type}")
        except BaseException:
            self._writer.release()
            raise
        self._writing = self._state.conn

    def commit(self) -> None:
        """Commit the transaction; its writes are then on the disk."""
        connection = self._state.conn
        if not connection.in_transaction:
            raise RolledBack("an error has ended the transaction")
        with as_peewee_errors:
            if connection is self._writing:
                call_in_thread(connection.execute, "COMMIT")
            else:
                connection.execute("COMMIT")
        self._end_writing(connection)

    def rollback(self) -> None:
        """Roll back the transaction, unless SQLite has done so because of an error."""
        connection = self._state.conn
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            connection.close()  # which also rolls back
        finally:
            self._end_writing(connection)

    def lock_until_commit(self, _number: int) -> None:
        """Take no lock: a transaction excludes all other writers anyway."""

    def lock_condition(self, _number: ColumnBase) -> Expression | SQL:
        """Return a condition that is always true: see `lock_until_commit`."""
        return SQL("1")

    def is_outage(self, error: peewee.PeeweeException) -> bool:
        """Return whether the file or its disk has failed, not the statement."""
        return isinstance(error, Busy | RolledBack) or _code_of(error) in OUTAGES

    def recover(self, error: peewee.PeeweeException) -> None:
        """Close the connections where the next statement should open the file again.

        A file that was opened on a read-only disk stays read-only until then. On a full
        disk the open connections still read, while a new one could not be opened.
        """
        if _code_of(error) in NEEDS_REOPENING:
            self.disconnect()

    def extend_timeouts(self) -> None:
        self._busy_seconds = timeouts.LIMITS.extended_busy_seconds

    def execute_sql(self, sql: str, params: Any = None) -> Any:
        """Run a statement; try again while another process has locked the file."""
        self.connection()  # if this fails, it is no error of the statement
        self._require_transaction()
        return self._try(super().execute_sql, sql, params)

    def along_index(
        self, equal: Pairs, low: Expression, high: Expression | None = None
    ) -> Expression:
        """Return the condition for a part of an index.

        In it each column has its value, and one or two bounds hold for the next column.
        """
        bounds = low if high is None else low & high
        return reduce(and_, (column == value for column, value in equal), bounds)

    def order_along_index(
        self, _equal: Pairs, columns: Sequence[ColumnBase]
    ) -> list[ColumnBase]:
        """Return the columns to order by: SQLite might sort by equal ones, too."""
        return list(columns)

    def row_id(self, table: type[Model]) -> Sequence[ColumnBase]:
        """Return the primary key, or the number of a row if that has several columns.

        Of several columns, SQLite may use only the first one to find the rows of a
        subquery, and then read all rows of a project.
        """
        keys = super().row_id(table)
        return keys if len(keys) == 1 else [SQL("rowid")]

    def scan(self, query: Select) -> list[Row]:
        """Run a query that may read thousands of rows, in a thread.

        Raises `Busy` if no time is left: a page runs many, and a slow disk delays each.
        """
        seconds_left(self._busy_seconds)
        connection, (sql, values) = self.connection(), query.sql()
        compiled = CompiledSql(sql, is_read=True)
        return self._try(call_in_thread, self._fetch_once, connection, compiled, values)

    def _make_pool(self) -> None:
        super()._make_pool()
        self._writer = threading.Lock()
        self._writing = None

    def _open(self) -> sqlite3.Connection:
        # Another process may be switching a new file to WAL mode.
        connect: Callable[[], sqlite3.Connection]
        connect = super(Engine, self)._connect  # type: ignore[misc]  # internal
        return self._try(connect)

    def _is_reusable(self, connection: sqlite3.Connection) -> bool:
        try:
            return not connection.in_transaction
        except sqlite3.ProgrammingError:  # it is closed
            return False

    def _fetch(self, compiled: CompiledSql, values: dict[str, Any]) -> list[Row]:
        if not self.is_closed():
            self._require_transaction()
            return self._try(self._fetch_once, self.connection(), compiled, values)
        # Only this statement needs a connection: no place in the pool is taken for it.
        with as_peewee_errors:
            connection = self._connect()
        try:
            return self._try(self._fetch_once, connection, compiled, values)
        finally:
            self._idle.append(connection)

    @staticmethod
    def _fetch_once(
        connection: sqlite3.Connection, compiled: CompiledSql, values: dict[str, Any]
    ) -> list[Row]:
        if ":now_ms" in compiled.sql:
            values["now_ms"] = clock.now_ms()
        with as_peewee_errors:
            return connection.execute(compiled.sql, values).fetchall()

    def _require_transaction(self) -> None:
        """Raise `RolledBack` if SQLite would commit each statement of a transaction."""
        if self.in_transaction() and not self._state.conn.in_transaction:
            raise RolledBack("an error has ended the transaction")

    def _try(self, call: Callable[..., Result], *args: Any) -> Result:
        """Call a function, and again as long as another process has locked the file.

        Raises `Locked` where that takes too long, and at once in a transaction.
        """
        ends = 0.0
        while True:
            try:
                return call(*args)
            except (sqlite3.OperationalError, peewee.OperationalError) as error:
                if _code_of(error) not in BUSY:
                    raise
                now = clock.monotonic()
                ends = ends or now + seconds_left(self._busy_seconds)
                if self.in_transaction() or now >= ends:
                    raise Locked("another process keeps the file locked") from error
            time.sleep(timeouts.LIMITS.retry_seconds)

    def _wait_for_writer(self, seconds: float) -> None:
        """Wait for the turn to write, without a connection: others need one to read."""
        self.close()
        if not self._writer.acquire(timeout=seconds):
            raise Locked("others keep the database busy")
        try:
            self.connect()
        except BaseException:
            self._writer.release()
            raise

    def _end_writing(self, connection: sqlite3.Connection) -> None:
        if connection is self._writing:
            self._writing = None
            self._writer.release()


def make_private(path: str) -> None:
    """Create an empty file that only its owner may read.

    A file that exists is not changed. If the file cannot be created, nothing is raised:
    SQLite will fail in the same way and report it.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, OWNER_ALONE))


def _code_of(error: BaseException | None) -> int:
    """Return the error code of SQLite; Peewee's errors have it in their context."""
    while error is not None:
        if code := getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK):
            return int(code) & 0xFF
        error = error.__context__
    return sqlite3.SQLITE_OK
