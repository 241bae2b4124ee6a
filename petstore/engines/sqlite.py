"""SQLite, embedded, on a file that may fail at any step, or be gone."""

import os
import sqlite3
import time

import peewee
from peewee import __exception_wrapper__

from petstore.statements import slot

BUSY_SECONDS = 30
RETRY_SECONDS = 0.01


class _Cursor(sqlite3.Cursor):
    """A statement that writes and returns rows may fail while these are fetched."""

    def fetchone(self) -> tuple | None:
        """The next row, if there is one."""
        with __exception_wrapper__:
            return super().fetchone()

    def fetchall(self) -> list[tuple]:
        """The rows that are left."""
        with __exception_wrapper__:
            return super().fetchall()


class SqliteConnection(sqlite3.Connection):
    """A connection whose failures are Peewee's."""

    def cursor(self, factory: type[sqlite3.Cursor] = _Cursor) -> sqlite3.Cursor:
        """What runs a statement."""
        return super().cursor(factory)


class Place:
    """Where a file was when it was first opened: what is told to another is lost."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._found: tuple[int, int] | None = None

    def note(self) -> None:
        """Remember the file, the first time."""
        self._found = self._found or self._file()

    def is_kept(self) -> bool:
        """Whether the file is still there, if it has been noted."""
        return self._found in (None, self._file())

    def require(self) -> None:
        """Raise unless the file is still there."""
        if not self.is_kept():
            raise peewee.OperationalError("the file has been removed or replaced")

    def _file(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_dev, found.st_ino


class Sqlite(peewee.SqliteDatabase):
    """A file in WAL mode; its connections stay open, one for each thread."""

    # One machine, one clock: each run of a statement is given the process's time.
    now_ms = slot("now_ms")

    def __init__(self, path: str, synchronous: str) -> None:
        self._place = Place(path)
        super().__init__(
            path,
            pragmas={
                "journal_mode": "wal",
                "synchronous": synchronous,
                "foreign_keys": 1,
            },
            timeout=BUSY_SECONDS,
            lock_type="IMMEDIATE",
            returning_clause=True,
            factory=SqliteConnection,
        )

    def _set_pragmas(self, conn: sqlite3.Connection) -> None:
        # Who finds a new file while another makes it a WAL one is refused at once;
        # for everything else SQLite waits.
        ends_at = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                super()._set_pragmas(conn)
            except sqlite3.OperationalError as error:
                is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not is_busy or time.monotonic() > ends_at:
                    raise
                time.sleep(RETRY_SECONDS)
            else:
                return

    def begin(self, lock_type: str | None = None) -> None:
        """Begin a transaction, in the file that is still there."""
        self.require_place()
        super().begin(lock_type)

    def require_place(self) -> None:
        """Raise unless what is written now will be found."""
        self._place.require()

    def rollback(self) -> None:
        """Undo the transaction."""
        # After some failures (a full disk) SQLite has undone it already.
        if self.connection().in_transaction:
            super().rollback()

    def lock_until_commit(self, _number: int) -> None:
        """Nothing to do: BEGIN IMMEDIATE has already shut out every other writer."""

    def limit_waiting(self) -> None:
        """Nothing to do: no transaction waits for another once it has begun."""

    def has_waited_too_long(self, _error: peewee.OperationalError) -> bool:
        """Never, for the same reason."""
        return False

    def release(self) -> None:
        """Keep the connection for the thread's next request."""

    def disconnect(self) -> None:
        """End the connection of this thread."""
        self.close()

    def recover(self) -> None:
        """Open the file anew: what was opened on a read-only disk stays read-only."""
        if self._place.is_kept():
            self.close()

    def _connect(self) -> SqliteConnection:
        self._place.require()
        connection = super()._connect()
        self._place.note()
        return connection
