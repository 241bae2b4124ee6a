"""PostgreSQL through psycopg, with a pool of connections for each process."""

import time
from collections import deque
from contextvars import ContextVar
from typing import Any

import peewee
import psycopg
from peewee import SQL, Psycopg3Adapter, _ConnectionState
from psycopg.errors import LockNotAvailable
from psycopg.pq import TransactionStatus

from petstore.clock import MS_PER_SECOND
from petstore.engines.silence import CONNECT_SECONDS, Connection
from petstore.fibers import elsewhere, has_come

MAX_LOCK_WAIT_MS = 1500
# When the network is gone, the server must not hold locks for a client it has lost.
NO_LONELY_TRANSACTION = "SET idle_in_transaction_session_timeout = 2000"
PREPARE_AFTER_USES = 5
# For so long after a failure nobody waits for a connection.
RETRY_CONNECT_SECONDS = 0.25


class _Adapter(Psycopg3Adapter):
    def connect(self, db: "Postgresql", **params: Any) -> Connection:
        connection = Connection.connect(db.database, **params)
        connection.fell_silent = db.pause
        if db.prepares_statements:  # else it is not ours alone
            connection.autocommit = True
            connection.execute(NO_LONELY_TRANSACTION)
        return connection


class Postgresql(peewee.PostgresqlDatabase):
    """Connections of psycopg, lent for a request or a command and pooled between."""

    psycopg3_adapter = _Adapter
    # The server's clock, the same for every worker and host.
    now_ms = SQL(f"CAST(extract(epoch FROM now()) * {MS_PER_SECOND} AS bigint)")

    def __init__(self, url: str, *, prepares_statements: bool) -> None:
        self.prepares_statements = prepares_statements
        self._is_away = False
        self._retry_at = 0.0
        self._idle: deque[Connection] = deque()
        self._present: ContextVar[_ConnectionState] = ContextVar("present")
        super().__init__(
            url,
            prefer_psycopg3=True,
            thread_safe=False,  # what is shared here needs no lock
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
        """Give the connection back, for the next one who needs one."""
        if not self.is_closed():
            self.close()

    def disconnect(self) -> None:
        """End every connection that is not in use."""
        self.release()
        self._close_idle()

    def recover(self) -> None:
        """Nothing to do: a connection that is broken is not lent again."""

    def dispose(self) -> None:
        """Forget all connections without a word: they are another process's."""
        self._idle.clear()
        super().dispose()

    @property
    def _state(self) -> _ConnectionState:
        # Peewee keeps it for each thread, but a thread has many requests in progress.
        try:
            return self._present.get()
        except LookupError:
            state = _ConnectionState()
            self._present.set(state)
            return state

    @_state.setter
    def _state(self, _state_of_threads: object) -> None:
        pass

    def pause(self) -> None:
        """Refuse all requests for a moment: the server is away."""
        self._is_away = True
        self._retry_at = time.monotonic() + RETRY_CONNECT_SECONDS

    def _connect(self) -> Connection:
        if time.monotonic() < self._retry_at:
            raise psycopg.OperationalError("no connection a moment ago")
        if self._is_away:
            # What was open may lead nowhere, even when the server is back.
            self._close_idle()
        while self._idle:
            connection = self._idle.pop()
            # One that has something to read has been told goodbye.
            if not connection.closed and not has_come(connection.fileno()):
                return connection
            connection.close()
        try:
            connection = elsewhere(super()._connect)
        except psycopg.OperationalError:
            self.pause()
            raise
        self._is_away = False
        return connection

    def _close(self, connection: Connection) -> None:
        if connection.pgconn.transaction_status == TransactionStatus.IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()
