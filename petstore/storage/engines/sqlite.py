"""SQLite behind Peewee's interface, on a file that may fail at any time."""

import os
import sqlite3
import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import peewee
from peewee import SQL, ColumnBase, Expression, Model, fn

from petstore import clock, timeouts
from petstore.storage.engines import files
from petstore.storage.engines.base import Pairs, RequestDatabase, Rows, as_peewee_errors
from petstore.storage.engines.busy import BusyFile, is_busy
from petstore.storage.engines.group_commit import NEVER_WAIT, GroupCommit
from petstore.storage.engines.waiting import current_deadline
from petstore.storage.queries import Row, Written, slot
from petstore.waiting import (
    allow_waiting,
    can_await,
    forbid_waiting,
    require_may_wait,
    waiting_forbidden_by,
)

Result = TypeVar("Result")

NEEDS_REOPENING = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOTADB,
}
# Error codes that concern the disk or the file, not the statement.
OUTAGES = NEEDS_REOPENING | {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_PROTOCOL,
}


class OpenedFile:
    """The database file that was opened first.

    If it is replaced, writes must stop: what is written into another file is lost. If
    it is emptied, it must not be opened again: SQLite takes it for a new database.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None

    def remember(self) -> None:
        """Remember which file this is, at the first call."""
        self._identity = self._identity or self._read_identity()

    def is_unchanged(self) -> bool:
        """Return whether the path still leads to that file, and it is not empty."""
        return self._identity in (None, self._read_identity())

    def require_unchanged(self) -> None:
        """Raise `peewee.OperationalError` if the file was removed or replaced."""
        if not self.is_unchanged():
            raise peewee.OperationalError(
                "the file has been removed, replaced or emptied"
            )

    def _read_identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return (status.st_dev, status.st_ino) if status.st_size else None


class OwnTransaction:
    """A transaction on a connection that no other request uses."""

    def __init__(
        self, connection: sqlite3.Connection, close: Callable[[], None]
    ) -> None:
        self.connection = connection
        self._close = close

    def commit(self) -> None:
        """Wait until the writes are on the disk."""
        allow_waiting()
        try:
            self.connection.execute("COMMIT")
        except sqlite3.Error:
            self.rollback()
            raise

    def rollback(self) -> None:
        """Undo the writes."""
        allow_waiting()
        # After some errors (a full disk) SQLite has rolled back by itself.
        if self.connection.in_transaction:
            try:
                self.connection.execute("ROLLBACK")
            except sqlite3.Error:
                self._close()  # which also rolls back

    def fail(self, _error: sqlite3.Error) -> None:
        """End it: SQLite has rolled back the transaction by itself."""
        allow_waiting()


class EndedTransaction:
    """A transaction that SQLite has rolled back by itself, because of an error.

    A block inside it might go on: its statements would be committed one by one.
    Therefore each of them raises that error again.
    """

    def __init__(self, error: sqlite3.Error) -> None:
        # The error itself would keep the request until the garbage collector comes.
        self._text, self._code = str(error), error.sqlite_errorcode

    @property
    def connection(self) -> sqlite3.Connection:
        """Raise the error as Peewee's."""
        with as_peewee_errors:
            self.commit()

    def commit(self) -> NoReturn:
        """Raise the error."""
        error = sqlite3.OperationalError(self._text)
        error.sqlite_errorcode = self._code
        raise error

    def rollback(self) -> None:
        """Leave it: the writes are undone already."""


class Sqlite(RequestDatabase, peewee.SqliteDatabase):
    """An SQLite file in WAL mode, with a connection for each thread.

    Requests of an event loop read on the connection of their thread, which never waits
    for a lock, and write through a `GroupCommit`.
    """

    # All processes are on one machine, so statements get the time of the process.
    now_ms = slot("now_ms")

    def __init__(self, path: str, **pragmas: str | int) -> None:
        self.file: Path = Path(path)
        self._opened = OpenedFile(path)
        self._busy_seconds = timeouts.LIMITS.busy_seconds
        self._busy_file = BusyFile()
        self._threads = threading.local()
        self._group_commit = GroupCommit(self._connect)
        super().__init__(
            path,
            pragmas={"journal_mode": "wal", "foreign_keys": 1} | pragmas,
            check_same_thread=False,
            timeout=0,  # `_retry` waits instead
        )

    def writing(self, _key: Hashable, **_limits: int) -> AbstractContextManager[Any]:
        """Run the block in a transaction; SQLite allows only one writer at a time."""
        return self.atomic()

    def lock_until_commit(self, _number: int) -> None:
        """Take no lock: a transaction excludes all other writers anyway."""

    def lock_condition(self, _number: ColumnBase) -> SQL:
        """Return a condition that is always true: see `lock_until_commit`."""
        return SQL("1")

    def is_outage(self, error: peewee.PeeweeException) -> bool:
        """Return whether the file or its disk has failed, not the statement."""
        return isinstance(error, peewee.DatabaseError) and _code_of(error) in OUTAGES

    def extend_timeouts(self) -> None:
        """Wait longer for locks, for commands; close the connections of this thread."""
        self._busy_seconds = timeouts.LIMITS.extended_busy_seconds
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connections of this thread."""
        if can_await():
            self._group_commit.close()
        connection = self._threads.__dict__.pop("connection", None)
        if connection:
            connection.close()

    def recover(self, error: peewee.PeeweeException) -> None:
        """Close the connections where the next statement should open the file again.

        A file that was opened on a read-only disk stays read-only until then. On a full
        disk the open connections still read, while a new one could not be opened.
        """
        if _code_of(error) in NEEDS_REOPENING and self._opened.is_unchanged():
            self.disconnect()

    def dispose(self) -> None:
        """Drop all connections without closing them: they belong to another process."""
        self._busy_file = BusyFile()
        self._threads = threading.local()
        self._group_commit = GroupCommit(self._connect)

    def connection(self) -> sqlite3.Connection:
        """Return the connection of the transaction, or else of the thread."""
        if transaction := self._transaction():
            return transaction.connection
        try:
            return self._threads.connection
        except AttributeError:
            with as_peewee_errors:
                self._threads.connection = self._connect()
            return self._threads.connection

    def begin(self, lock_type: str = "IMMEDIATE") -> None:
        """Begin a transaction; raises `peewee.OperationalError` if the file is gone.

        Nothing is awaited in it, except in the `snapshot` and `filling` of a command.
        """
        self._opened.require_unchanged()
        with as_peewee_errors:
            if can_await():
                self._enter_transaction(self._group_commit.begin())
            else:
                connection = self.connection()
                self._retry(connection.execute, f"BEGIN {lock_type}")
                self._enter_transaction(OwnTransaction(connection, self.disconnect))
                if lock_type == "IMMEDIATE":
                    forbid_waiting(NEVER_WAIT)

    def commit(self) -> None:
        """Commit the transaction; its writes are then on the disk."""
        # The request leaves the transaction first: if the commit fails, Peewee must not
        # roll back the transaction of other requests.
        transaction = self._leave_transaction()
        with as_peewee_errors:
            transaction.commit()

    def rollback(self) -> None:
        """Roll back the transaction."""
        if transaction := self._leave_transaction():
            with as_peewee_errors:
                transaction.rollback()

    def placeholder(self, _numbers: dict[str, int], name: str) -> str:
        """Return the SQL for a slot, whose value the driver finds by its name."""
        return f":{name}"

    def fetch(self, written: Written, values: dict[str, Any]) -> list[Row]:
        """Run a statement with a value for each slot, and return all its rows."""
        rows: list[Row] = self.execute_sql(written.sql, values).fetchall()
        return rows

    def autocommit(
        self, _key: Hashable, written: Written, values: dict[str, Any]
    ) -> list[Row]:
        """Run a statement in a transaction and return all its rows."""
        return self.fetch(written, values)

    def run_many(self, written: Written, many: list[dict[str, Any]]) -> None:
        """Run a statement for each of the values, in the current transaction."""
        connection = self.connection()
        try:
            connection.executemany(written.sql, many)
        except sqlite3.Error as error:
            self._end_if_rolled_back(connection, error)
            with as_peewee_errors:
                raise

    def limiting_locks(self, value: ColumnBase) -> ColumnBase:
        """Return the value; SQLite locks no rows."""
        return value

    def insert(self, _key: Hashable, written: Written, values: dict[str, Any]) -> int:
        """Insert at most one row, like `autocommit`; return its id, 0 without."""
        rows = self.execute_sql(written.sql, values)
        return rows.lastrowid if rows.rowcount else 0

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
        """Return the columns to order by; SQLite might also sort by equal ones."""
        return list(columns)

    def row_id(self, _table: type[Model]) -> Sequence[ColumnBase]:
        """Return the number of a row.

        Of a primary key of several columns, SQLite may use only the first one to find
        rows that a subquery names, and then read all rows of a project.
        """
        return [SQL("rowid")]

    def join(self, text: ColumnBase, separator: str) -> ColumnBase:
        """Return the texts of all rows, with the separator between them."""
        return fn.GROUP_CONCAT(text, separator)

    def is_readable_by_others(self) -> bool:
        """Return whether another user of the machine may read one of the files."""
        return files.is_readable_by_others(self.database)

    def snapshot(self) -> AbstractContextManager[Any]:
        """Read everything as it is at one moment, without blocking writers."""
        return self.atomic("DEFERRED")

    def filling(self) -> AbstractContextManager[Any]:
        """Fill an empty database in one transaction.

        It is for commands: nobody else uses the file yet, so the block may await what
        is to be written.
        """
        return self.atomic("EXCLUSIVE")

    def last_id(self, table: str) -> int:
        """Return the last id that was assigned, even to a deleted row; 0 for none."""
        query = "SELECT max(seq) FROM sqlite_sequence WHERE name = ?"
        [(last,)] = self.execute_sql(query, (table,))
        return last or 0

    def continue_ids_after(self, table: str, last: int) -> None:
        """Make the next id greater than the last one."""
        self.execute_sql("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        self.execute_sql("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, last))

    def _run(self, sql: str, params: Any) -> Rows:
        connection = self.connection()
        try:
            cursor = connection.execute(sql, params or ())
            rows = cursor.fetchall()
        except sqlite3.Error as error:
            transaction = self._end_if_rolled_back(connection, error)
            with as_peewee_errors:
                if transaction or not is_busy(error):
                    raise
                cursor = self._retry(connection.execute, sql, params or ())
                rows = cursor.fetchall()
        return Rows(rows, cursor.description, cursor.rowcount, cursor.lastrowid)

    def _end_if_rolled_back(
        self, connection: sqlite3.Connection, error: sqlite3.Error
    ) -> Any:
        """Return the transaction in which a statement has failed, None without one."""
        transaction = self._transaction()
        if transaction and not connection.in_transaction:
            transaction.fail(error)
            self._state.conn = EndedTransaction(error)
        return transaction

    def _connect(self) -> sqlite3.Connection:
        self._opened.require_unchanged()
        files.make_private(self.database)
        # Another process may be switching a new file to WAL mode.
        connection = self._retry(super()._connect)  # type: ignore[misc]  # internal
        self._opened.remember()
        return connection

    def _retry(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function again while another process has locked the file."""
        seconds = min(self._busy_seconds, current_deadline() - clock.monotonic())
        return self._busy_file.retry(function, *arguments, seconds=seconds)


class SqliteCounters(Sqlite):
    """The counters in an SQLite file, written without waiting for the disk."""

    def __init__(self, path: str) -> None:
        pages = timeouts.LIMITS.counter_pages
        super().__init__(path, synchronous="normal", wal_autocheckpoint=pages)
        self._busy_seconds = timeouts.LIMITS.busy_hit_seconds

    def execute_sql(self, sql: str, params: Any = None) -> Rows:
        """Run a statement, which is committed at once, and return its rows.

        It might wait, and therefore never runs in a transaction of the data.
        """
        if waiting_forbidden_by() and not self._transaction():
            require_may_wait()
        return self._run(sql, params)


def _code_of(error: peewee.PeeweeException) -> int:
    code: int = getattr(error.__context__, "sqlite_errorcode", sqlite3.SQLITE_IOERR)
    return code & 0xFF
