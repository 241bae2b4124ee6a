"""PostgreSQL through psycopg: statements are awaited, and given up in time."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any
from weakref import WeakValueDictionary

import peewee
import psycopg
from peewee import SQL, Psycopg3Adapter, __exception_wrapper__
from psycopg.errors import LockNotAvailable, ReadOnlySqlTransaction
from psycopg.pq import TransactionStatus
from psycopg.waiting import Ready, Wait, wait_async

from petstore import waiting
from petstore.clock import MS_PER_SECOND
from petstore.engines.permits import STALLED_SECONDS, Permits
from petstore.engines.requests import RequestDatabase

MAX_CONNECTIONS = 6  # of a worker
MAX_WRITES = 2  # of a project in a worker: one project must not take all connections
PREPARE_AFTER_USES = 5
CONNECT_SECONDS = 2
# For so long after a failure nobody waits for a connection.
RETRY_CONNECT_SECONDS = 0.25

# The server gives up before the client does: what was given up is not carried out.
LOCK_MS = 1500
STATEMENT_MS = 1800
LIMITS = {"lock_timeout": LOCK_MS, "statement_timeout": STATEMENT_MS}
STATEMENT_SECONDS = 2.0
GRACE_SECONDS = 0.05
CANCEL_SECONDS = 2.0
# When the network is gone, the server must not hold locks for a client it has lost.
ABANDONED_MS = 2000


class Connection(psycopg.Connection):
    """A connection that lets the event loop go on while the server works."""

    seconds: float | None = None  # for each step of the protocol
    _loop: asyncio.AbstractEventLoop | None = None  # that watches the socket
    _answer: asyncio.Future | None = None  # while it is waited for
    _gives_up_at = 0.0
    _timer: asyncio.TimerHandle | None = None

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Carry out a step of the protocol; raises `psycopg.OperationalError`."""
        if not waiting.can_await():
            return super().wait(gen, *args, timeout=self.seconds)
        self._watch()
        try:
            wanted = next(gen)
            while wanted == Wait.R:
                self._wait_for_answer()
                wanted = gen.send(Ready.R)
        except StopIteration as end:
            return end.value
        # Seldom: the server does not read what is to be sent.
        self._unwatch()
        return waiting.wait(
            wait_async(gen, self.pgconn.socket, STATEMENT_SECONDS, self.seconds)
        )

    @property
    def is_working(self) -> bool:
        """Whether the server has not answered yet."""
        return self.info.transaction_status == TransactionStatus.ACTIVE

    @property
    def is_usable(self) -> bool:
        """Whether the server waits for a statement."""
        return self.info.transaction_status == TransactionStatus.IDLE

    def close(self) -> None:
        """End the connection."""
        self._unwatch()
        super().close()

    def discard(self) -> None:
        """Close, and tell the server to stop what it may still be doing."""
        self._unwatch()
        if self.is_working:
            threading.Thread(target=self._cancel_and_close, daemon=True).start()
        else:
            self.close()

    def _cancel_and_close(self) -> None:
        with suppress(psycopg.Error):
            self.cancel_safe(timeout=CANCEL_SECONDS)
        self.close()

    def _watch(self) -> None:
        # The socket is watched all the time: to begin and to end it for each statement
        # would cost a fifth of the statement.
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self.pgconn.socket, self._notice)

    def _unwatch(self) -> None:
        if self._loop:
            self._loop.remove_reader(self.pgconn.socket)
            self._loop = None

    def _wait_for_answer(self) -> None:
        self._answer = self._loop.create_future()
        self._gives_up_at = self._loop.time() + STATEMENT_SECONDS
        if self._timer is None:
            self._timer = self._loop.call_at(self._gives_up_at, self._check)
        try:
            waiting.wait(self._answer)
        finally:
            self._answer = None

    def _notice(self) -> None:
        """Called by the loop when the server has sent something, or has gone."""
        if self._answer is None:
            self.close()  # nothing was asked: the server says goodbye
        elif not self._answer.done():
            self._answer.set_result(None)

    def _check(self) -> None:
        """Called by the loop when an answer may be late.

        One timer serves many statements: to set one for each would cost a tenth more.
        """
        self._timer = None
        if self._answer is None:
            return
        if self._loop.time() < self._gives_up_at:
            self._timer = self._loop.call_at(self._gives_up_at, self._check)
        else:
            # What has come while the process stood still is read first.
            self._loop.call_later(GRACE_SECONDS, self._give_up, self._answer)

    def _give_up(self, answer: asyncio.Future) -> None:
        if not answer.done():
            answer.set_exception(psycopg.OperationalError("the server took too long"))


class _Adapter(Psycopg3Adapter):
    def connect(self, db: "Postgresql", **params: Any) -> Connection:
        return Connection.connect(db.database, autocommit=True, **params)


class Postgresql(RequestDatabase, peewee.PostgresqlDatabase):
    """Connections that are lent for a statement or a transaction each."""

    psycopg3_adapter = _Adapter
    # The server's clock, the same for every worker and host.
    now_ms = SQL(f"CAST(extract(epoch FROM now()) * {MS_PER_SECOND} AS bigint)")

    def __init__(self, url: str, *, prepares_statements: bool) -> None:
        self.is_patient = False
        # Else a connection is not ours alone: settings must not outlast a transaction.
        self._owns_connections = prepares_statements
        self._retry_at = 0.0
        self._clock_offset = 0.0  # from this process's monotonic clock to the server's
        self._idle: list[Connection] = []
        self._permits = Permits(MAX_CONNECTIONS)
        self._turns: WeakValueDictionary[int, Permits] = WeakValueDictionary()
        super().__init__(
            url,
            prefer_psycopg3=True,
            connect_timeout=CONNECT_SECONDS,
            prepare_threshold=PREPARE_AFTER_USES if prepares_statements else None,
        )

    @contextmanager
    def turn(self, number: int) -> Iterator[None]:
        """Write as one of the few that write for that project at a time."""
        turn = self._turns.get(number)
        if turn is None:
            turn = self._turns[number] = Permits(MAX_WRITES)
        turn.acquire()
        try:
            yield
        finally:
            turn.release()

    @contextmanager
    def writing(self, number: int, *, lock_ms: int = LOCK_MS) -> Iterator[None]:
        """A transaction that writes for that project.

        It waits so long for each lock that another transaction holds.
        """
        turn = nullcontext() if self.in_transaction() else self.turn(number)
        with turn, self.atomic(lock_ms):
            yield

    def deadline(self) -> float:
        """When a statement that begins now is given up, by the server's clock.

        In seconds since the Unix epoch.
        """
        return time.monotonic() + self._clock_offset + STATEMENT_MS / MS_PER_SECOND

    def execute_timely(self, sql: str, params: Any) -> psycopg.Cursor:
        """Run a statement that writes at least one row, until its `deadline`.

        It is not undone when it is given up; instead it does nothing any more.
        """
        cursor = self._run(sql, params)
        if not cursor.rowcount:
            # It was held up, or the clock was set: a new connection will read it.
            self.disconnect()
            raise peewee.OperationalError("the server has found the statement late")
        return cursor

    def lock_until_commit(self, number: int) -> None:
        """Wait for every other transaction that locked the number to end."""
        self.execute_sql("SELECT pg_advisory_xact_lock(%s)", (number,))

    def is_locked(self, error: peewee.PeeweeException) -> bool:
        """Whether another transaction has held what was waited for."""
        return isinstance(error.__context__, LockNotAvailable)

    def is_outage(self, error: peewee.PeeweeException) -> bool:
        """Whether the server cannot do at the moment what it is able to do."""
        kinds = (peewee.OperationalError, peewee.InterfaceError)
        cause = error.__context__
        return isinstance(error, kinds) or isinstance(cause, ReadOnlySqlTransaction)

    def be_patient(self) -> None:
        """Wait for as long as it takes, as a command may."""
        self.is_patient = True
        self.disconnect()

    def release(self) -> None:
        """Nothing to do: a connection is given back when its statement is done."""

    def recover(self) -> None:
        """Nothing to do: a connection that is broken is not lent again."""

    def disconnect(self) -> None:
        """End every connection that is not in use."""
        while self._idle:
            self._idle.pop().close()

    def dispose(self) -> None:
        """Forget all connections without a word: they are another process's."""
        self._idle.clear()

    def begin(self, lock_ms: int = LOCK_MS) -> None:
        """Begin a transaction, on a connection of its own."""
        connection = self._lend()
        try:
            self._execute(connection, self._begin_sql(lock_ms))
        except BaseException:
            self._take_back(connection)
            raise
        self._enter(connection)

    def commit(self) -> None:
        """Make it final."""
        self._execute(self._state.conn, "COMMIT")
        self._take_back(self._leave())

    def rollback(self) -> None:
        """Undo it; where the server does not answer, the end of the connection does."""
        connection = self._leave()
        try:
            if not connection.closed and not connection.is_working:
                self._execute(connection, "ROLLBACK")
        finally:
            self._take_back(connection)

    def _begin_sql(self, lock_ms: int) -> str:
        limits = LIMITS | {"lock_timeout": lock_ms}
        if self.is_patient or (self._owns_connections and limits == LIMITS):
            return "BEGIN"
        return f"BEGIN; {_settings(limits, 'SET LOCAL')}"

    def _run(self, sql: str, params: Any) -> psycopg.Cursor:
        if self.in_transaction():
            return super()._run(sql, params)
        self._enter(self._lend())
        try:
            return super()._run(sql, params)
        finally:
            self._take_back(self._leave())

    def _execute(self, connection: Connection, sql: str) -> None:
        with __exception_wrapper__:
            connection.execute(sql)

    def _lend(self) -> Connection:
        self._permits.acquire()
        try:
            while self._idle:
                connection = self._idle.pop()
                if connection.is_usable:
                    return connection
                connection.close()
            return self._open()
        except BaseException:
            self._permits.release()
            raise

    def _take_back(self, connection: Connection) -> None:
        if connection.is_usable:
            self._idle.append(connection)
        else:
            if connection.is_working:
                self._pause()  # the server should have given up before
            connection.discard()
        self._permits.release()

    def _pause(self) -> None:
        """Refuse new connections for a moment: the server is away."""
        self._retry_at = time.monotonic() + RETRY_CONNECT_SECONDS
        # What was open may lead nowhere, even when the server is back.
        self.disconnect()

    def _open(self) -> Connection:
        if time.monotonic() < self._retry_at:
            raise peewee.OperationalError("no connection a moment ago")
        try:
            with __exception_wrapper__:
                if waiting.can_await():
                    return waiting.wait(self._connect_in_time())
                return self._connect()
        except peewee.OperationalError:
            self._pause()
            raise

    async def _connect_in_time(self) -> Connection:
        loop = asyncio.get_running_loop()
        connecting = loop.run_in_executor(None, self._connect)
        try:
            async with asyncio.timeout(STALLED_SECONDS):
                return await asyncio.shield(connecting)
        except TimeoutError:
            connecting.add_done_callback(self._keep)
            raise psycopg.OperationalError("no connection in time") from None

    def _keep(self, connecting: asyncio.Future[Connection]) -> None:
        """Let others use a connection that came too late."""
        if connecting.exception() is None:
            self._idle.append(connecting.result())

    def _connect(self) -> Connection:
        connection = super()._connect()
        if self._owns_connections:
            settings = {"idle_in_transaction_session_timeout": ABANDONED_MS}
            if not self.is_patient:
                settings |= LIMITS
            connection.execute(_settings(settings, "SET"))
        if not self.is_patient:
            connection.seconds = STATEMENT_SECONDS
        [now] = connection.execute("SELECT extract(epoch FROM clock_timestamp())")
        self._clock_offset = float(now[0]) - time.monotonic()
        return connection


def _settings(settings: dict[str, int], command: str) -> str:
    return "; ".join(f"{command} {name} = {ms}" for name, ms in settings.items())
