"""PostgreSQL behind Peewee's interface."""

import time
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from weakref import WeakValueDictionary

import peewee
import psycopg
from peewee import SQL, Psycopg3Adapter, fn
from psycopg.errors import (
    IdleInTransactionSessionTimeout,
    LockNotAvailable,
    ReadOnlySqlTransaction,
    TransactionTimeout,
)

from petstore.clock import MS_PER_SECOND
from petstore.engines.base import RequestDatabase, as_peewee_errors
from petstore.engines.connection import STATEMENT_SECONDS, Connection
from petstore.engines.pool import Pool
from petstore.engines.queues import Busy, Semaphore
from petstore.statements import slot

MAX_WRITES = 2  # at a time in a worker, for one project or counted subject
PREPARE_AFTER_USES = 5
CONNECT_SECONDS = 2

# Writers wait for each other instead of failing, whatever the default of the role is.
ISOLATION = "READ COMMITTED"

# The server gives up before the client does, so that a statement that has timed out is
# not carried out later.
LOCK_MS = 1500
STATEMENT_MS = 1800
LIMITS = {"lock_timeout": LOCK_MS, "statement_timeout": STATEMENT_MS}
# If the network fails, the server must not keep the locks of a client it has lost.
IDLE_LIMITS = {"idle_in_transaction_session_timeout": 2000}

# Errors that concern the server and its time limits, although Peewee calls them errors
# of the statement.
OUTAGES = (ReadOnlySqlTransaction, IdleInTransactionSessionTimeout, TransactionTimeout)


class _Adapter(Psycopg3Adapter):
    def connect(self, db: "Postgresql", **params: Any) -> Connection:
        return Connection.connect(db.database, autocommit=True, **params)


class Postgresql(RequestDatabase, peewee.PostgresqlDatabase):
    """A PostgreSQL database; each statement or transaction uses a pooled connection."""

    psycopg3_adapter = _Adapter
    # The time of the server, in ms since 1970: the same for all workers and hosts.
    now_ms = SQL(f"CAST(extract(epoch FROM now()) * {MS_PER_SECOND} AS bigint)")
    is_before_deadline = fn.clock_timestamp() < fn.to_timestamp(slot("deadline"))

    def __init__(self, url: str, *, prepares_statements: bool) -> None:
        self._has_extended_timeouts = False
        # If statements are not prepared, a connection pooler may share the connection
        # among clients, so settings must not outlast a transaction.
        self._owns_connections = prepares_statements
        # Seconds between the monotonic clock of this process and the server's clock;
        # None until the first connection is made.
        self._clock_offset: float | None = None
        self._pool = Pool(self._connect)
        self._semaphores: WeakValueDictionary[Hashable, Semaphore] = (
            WeakValueDictionary()
        )
        super().__init__(
            url,
            prefer_psycopg3=True,
            connect_timeout=CONNECT_SECONDS,
            client_encoding="UTF8",
            prepare_threshold=PREPARE_AFTER_USES if prepares_statements else None,
        )

    def write_permit(self, key: Hashable) -> AbstractContextManager[None]:
        """Let at most MAX_WRITES requests write for a project or subject at a time.

        Otherwise requests that wait for a lock of one project could take all
        connections. A request in a transaction already has a permit.
        """
        if self.in_transaction():
            return super().write_permit(key)
        semaphore = self._semaphores.get(key)
        if semaphore is None:
            semaphore = self._semaphores[key] = Semaphore(MAX_WRITES)
        return semaphore

    @contextmanager
    def writing(self, project_id: int, *, lock_ms: int = LOCK_MS) -> Iterator[None]:
        """Run the block in a transaction that writes for that project.

        It waits at most `lock_ms` for each lock that another transaction holds.
        """
        with self.write_permit(project_id), self.atomic(lock_ms):
            yield

    def deadline(self) -> float:
        """Return when a statement that begins now times out, by the server's clock.

        The unit is seconds since the Unix epoch.
        """
        while self._clock_offset is None:
            self._run("SELECT 1", None)
        return time.monotonic() + self._clock_offset + STATEMENT_MS / MS_PER_SECOND

    def execute_before_deadline(self, sql: str, params: Any) -> psycopg.Cursor:
        """Run a statement that writes at least one row before its `deadline`.

        The statement itself has to check `is_before_deadline`. Raises
        `peewee.OperationalError` if it has written nothing.
        """
        # Where only a transaction has time limits, the statement could wait for a lock
        # until after its deadline, and then write.
        run = self._run if self._owns_connections else self.execute_sql
        cursor = run(sql, params)
        if not cursor.rowcount:
            # The statement was delayed, or the server's clock was set. A new connection
            # reads the clock again.
            self.disconnect()
            raise peewee.OperationalError("the server has found the statement late")
        return cursor

    def lock_until_commit(self, number: int) -> None:
        """Lock the number until the transaction ends; wait for others that hold it."""
        self.execute_sql("SELECT pg_advisory_xact_lock(%s)", (number,))

    def is_locked(self, error: peewee.PeeweeException) -> bool:
        """Return whether waiting for a lock or for a connection has timed out."""
        return isinstance(error, Busy) or isinstance(
            error.__context__, LockNotAvailable
        )

    def is_outage(self, error: peewee.PeeweeException) -> bool:
        """Return whether the server is unavailable or read-only for the moment."""
        kinds = (peewee.OperationalError, peewee.InterfaceError)
        return isinstance(error, kinds) or isinstance(error.__context__, OUTAGES)

    def extend_timeouts(self) -> None:
        """Remove the time limits, for commands; close connections that have them."""
        self._has_extended_timeouts = True
        self.disconnect()

    def recover(self, _error: peewee.PeeweeException) -> None:
        """Do nothing: the pool drops connections that are broken."""

    def disconnect(self) -> None:
        """Close all connections that are not in use."""
        self._pool.close_idle()

    def dispose(self) -> None:
        """Drop all connections without closing them: they belong to another process."""
        self._pool = Pool(self._connect)

    # Peewee passes the arguments of `atomic` to `begin`.
    def begin(self, lock_ms: int = LOCK_MS) -> None:  # type: ignore[override]
        """Begin a transaction on a connection from the pool."""
        connection = self._pool.acquire()
        try:
            self._execute(connection, self._begin_sql(lock_ms))
        except BaseException:
            self._pool.release(connection)
            raise
        self._bind_connection(connection)

    def commit(self) -> None:
        """Commit the transaction."""
        self._execute(self._state.conn, "COMMIT")
        self._pool.release(self._unbind_connection())

    def rollback(self) -> None:
        """Roll back the transaction.

        If the server does not answer, the connection is closed, which also rolls back.
        """
        connection = self._unbind_connection()
        try:
            if not connection.closed and not connection.is_active:
                self._execute(connection, "ROLLBACK")
        finally:
            self._pool.release(connection)

    def _begin_sql(self, lock_ms: int) -> str:
        limits = LIMITS | {"lock_timeout": lock_ms}
        begin = f"BEGIN ISOLATION LEVEL {ISOLATION}"
        if self._has_extended_timeouts or (self._owns_connections and limits == LIMITS):
            return begin
        return f"{begin}; {_settings(limits, 'SET LOCAL')}"

    def _run(self, sql: str, params: Any) -> psycopg.Cursor:
        if self.in_transaction():
            return super()._run(sql, params)
        self._bind_connection(self._pool.acquire())
        try:
            return super()._run(sql, params)
        finally:
            self._pool.release(self._unbind_connection())

    def _execute(self, connection: Connection, sql: str) -> None:
        with as_peewee_errors:
            connection.execute(sql)

    def _connect(self) -> Connection:
        connection: Connection = super()._connect()  # type: ignore[misc]  # internal
        if not self._has_extended_timeouts:
            connection.timeout_seconds = STATEMENT_SECONDS
            if self._owns_connections:
                connection.execute(
                    f"SET default_transaction_isolation = '{ISOLATION}'; "
                    + _settings(LIMITS | IDLE_LIMITS, "SET")
                )
        [now] = connection.execute("SELECT extract(epoch FROM clock_timestamp())")
        self._clock_offset = float(now[0]) - time.monotonic()
        return connection


def _settings(settings: dict[str, int], command: str) -> str:
    return "; ".join(f"{command} {name} = {ms}" for name, ms in settings.items())
