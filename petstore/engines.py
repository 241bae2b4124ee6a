"""The two engines: SQLite, embedded, and PostgreSQL through psycopg."""

import select
import threading
import time
from typing import Any

import peewee
import psycopg
from peewee import SQL, Psycopg3Adapter
from playhouse.pool import PooledPostgresqlDatabase
from psycopg.errors import LockNotAvailable

from petstore.clock import MS_PER_SECOND
from petstore.statements import slot

SQLITE_BUSY_SECONDS = 30
# How long a request waits for PostgreSQL before it is a 503.
CONNECT_SECONDS = 2
STATEMENT_SECONDS = 2.0
MAX_LOCK_WAIT_MS = 1500
PREPARE_AFTER_USES = 5
# For so long after a failure nobody else waits for a connection.
RETRY_CONNECT_SECONDS = 0.25


class Sqlite(peewee.SqliteDatabase):
    """A file in WAL mode; its connections stay open, one for each thread."""

    # One machine, one clock: each run of a statement is given the process's time.
    now_ms = slot("now_ms")

    def __init__(self, path: str, synchronous: str) -> None:
        self._writers = threading.Lock()
        super().__init__(
            path,
            pragmas={
                "journal_mode": "wal",
                "synchronous": synchronous,
                "foreign_keys": 1,
            },
            timeout=SQLITE_BUSY_SECONDS,
            lock_type="IMMEDIATE",
            returning_clause=True,
        )

    def begin(self, lock_type: str | None = None) -> None:
        """Begin a transaction, one thread at a time.

        SQLite lets the threads of a process wait for each other in naps of up to a
        tenth of a second; in a queue they go on as soon as they can.
        """
        self._writers.acquire()
        try:
            super().begin(lock_type)
        except BaseException:
            self._writers.release()
            raise

    def commit(self) -> None:
        """Commit, and let the next one in; a failed commit is followed by rollback."""
        super().commit()
        self._writers.release()

    def rollback(self) -> None:
        """Undo the transaction, and let the next one in."""
        try:
            super().rollback()
        finally:
            self._writers.release()

    def lock_until_commit(self, _number: int) -> None:
        """Nothing to do: BEGIN IMMEDIATE has already shut out every other writer."""

    def limit_waiting(self) -> None:
        """Nothing to do: no transaction waits for another once it has begun."""

    def has_waited_too_long(self, _error: peewee.OperationalError) -> bool:
        """Never, for the same reason."""
        return False

    def release(self) -> None:
        """Keep the connection for the thread's next request."""


class Connection(psycopg.Connection):
    """A connection that nobody waits for longer than a request may take."""

    statement_seconds: float | None = STATEMENT_SECONDS

    def wait(self, gen: Any, **options: Any) -> Any:
        """Run a step of the protocol; a server that does not answer is given up."""
        try:
            return super().wait(gen, timeout=self.statement_seconds, **options)
        except psycopg.errors._WaitTimeout:
            self.close()
            raise psycopg.OperationalError("the server did not answer") from None


class _Adapter(Psycopg3Adapter):
    def connect(self, db: "Postgresql", **params: Any) -> Connection:
        return Connection.connect(db.database, **params)


class Postgresql(PooledPostgresqlDatabase):
    """Connections of psycopg, lent for a request or a command and pooled between."""

    psycopg3_adapter = _Adapter
    # The server's clock, the same for every worker and host.
    now_ms = SQL(f"CAST(extract(epoch FROM now()) * {MS_PER_SECOND} AS bigint)")

    def __init__(self, url: str, *, prepares_statements: bool) -> None:
        self._retry_at = 0.0
        super().__init__(
            url,
            max_connections=None,
            prefer_psycopg3=True,
            connect_timeout=CONNECT_SECONDS,
            prepare_threshold=PREPARE_AFTER_USES if prepares_statements else None,
        )

    def lock_until_commit(self, number: int) -> None:
        """Wait for every other transaction that locked the number to end."""
        self.execute_sql("SELECT pg_advisory_xact_lock(%s)", (number,))

    def limit_waiting(self) -> None:
        """Let the present transaction wait for others only so long."""
        self.execute_sql(f"SET LOCAL lock_timeout = {MAX_LOCK_WAIT_MS}")

    def has_waited_too_long(self, error: peewee.OperationalError) -> bool:
        """Whether the error came of `limit_waiting`."""
        return isinstance(error.__context__, LockNotAvailable)

    def release(self) -> None:
        """Give the connection back to the pool."""
        if not self.is_closed():
            self.close()

    def _is_closed(self, conn: object) -> bool:
        # An idle connection that has something to read has been told goodbye;
        # asking the kernel spares the round trip that the pool would make.
        if conn.closed:
            return True
        idle = select.poll()
        idle.register(conn.fileno(), select.POLLIN)
        return bool(idle.poll(0))

    def _connect(self) -> Connection:
        if time.monotonic() < self._retry_at:
            raise psycopg.OperationalError("no connection a moment ago")
        try:
            return super()._connect()
        except psycopg.OperationalError:
            self._retry_at = time.monotonic() + RETRY_CONNECT_SECONDS
            raise
