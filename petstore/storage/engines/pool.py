"""A pool of connections to PostgreSQL, used in one event loop only."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from contextlib import suppress
from functools import partial

import peewee

from petstore import clock, randomness, timeouts
from petstore.storage.engines.connection import FAILURES, PostgresConnection
from petstore.storage.engines.waiting import WaitQueue, Who

READ = object()  # the purpose of a connection that does not write


class Pool:
    """The connections of a process; without a timeout, requests wait forever."""

    def __init__(
        self, connect: Callable[[], Awaitable[PostgresConnection]], *, has_timeout: bool
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self._connect = connect
        self._queue: WaitQueue[PostgresConnection] = WaitQueue(
            is_over if has_timeout else lambda _waited, _stalled: False
        )
        self._idle: list[PostgresConnection] = []
        # Each connection, idle or in use, and when it will be retired.
        self._connections: dict[PostgresConnection, asyncio.TimerHandle] = {}
        # Each connection that writes, and for which key.
        self._writers: dict[PostgresConnection, Hashable] = {}
        self._is_connecting = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._retry_at = 0.0

    @property
    def lock_seconds(self) -> float:
        """How long the newest writer may wait for each lock."""
        limits = timeouts.LIMITS
        has_room = len(self._writers) <= limits.waiting_connections
        return limits.lock_seconds if has_room else limits.short_lock_seconds

    def acquire_to_write(
        self, key: Hashable, deadline: float = math.inf
    ) -> Awaitable[PostgresConnection]:
        """Return a connection once fewer than `LIMITS.writes` write for the key.

        Otherwise requests that wait for a lock of one project could take all
        connections. There is no such limit for the key None.
        """
        return self.acquire((key,), key, deadline)

    async def acquire(
        self,
        who: Who | None = (None,),
        purpose: Hashable = READ,
        deadline: float = math.inf,
    ) -> PostgresConnection:
        """Return an idle connection, or wait for one, in turn with others.

        Raises `peewee.OperationalError` if none is available in time.
        """
        if connection := self._first_idle():
            if purpose is READ or self._lend(connection, purpose):
                return self._idle.pop()
        elif clock.monotonic() < self._retry_at:
            raise peewee.OperationalError("no connection a moment ago")
        else:
            self._connect_if_needed()
        return await self._queue.wait(who, purpose, deadline)

    def release(self, connection: PostgresConnection) -> None:
        """Return a connection to the pool, for the next request that waits.

        A connection that is not idle is closed, so its transaction is rolled back.
        """
        self._writers.pop(connection, None)
        if connection.is_idle:
            self._idle.append(connection)
        else:
            self._distrust_others(connection)
            self._drop(connection)
        if self._queue:
            self._serve()

    async def close(self) -> None:
        """Close all connections that are not in use."""
        self._drop_idle()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def start(self, coroutine: Coroutine[None, None, None]) -> None:
        """Start a task, and keep it until it is done; `close` waits for it."""
        task = self.loop.create_task(coroutine)
        self._tasks.add(task)  # the event loop keeps only a weak reference
        task.add_done_callback(self._tasks.discard)

    def _lend(self, connection: PostgresConnection, purpose: Hashable) -> bool:
        """Note who writes; return False if too many write for the same key."""
        if purpose is READ:
            return True
        keys = list(self._writers.values())
        if purpose is not None and keys.count(purpose) >= timeouts.LIMITS.writes:
            return False
        self._writers[connection] = purpose
        return True

    def _serve(self) -> None:
        """Lend the idle connections to requests that wait."""
        while self._queue and (connection := self._first_idle()):
            if not self._queue.serve(connection, partial(self._lend, connection)):
                return
            self._idle.pop()
        if self._queue:
            self._connect_if_needed()

    def _first_idle(self) -> PostgresConnection | None:
        """Return the connection that was released last, and may be used again."""
        while self._idle and not self._idle[-1].is_idle:
            self._drop(self._idle.pop())
        return self._idle[-1] if self._idle else None

    def _distrust_others(self, connection: PostgresConnection) -> None:
        """Close the connections that may have failed like this one."""
        if connection.is_read_only:
            for other in self._connections:
                other.is_retired = True
        if connection.is_read_only or connection.is_uncertain:
            self._drop_idle()

    def _drop_idle(self) -> None:
        while self._idle:
            self._drop(self._idle.pop())

    def _drop(self, connection: PostgresConnection) -> None:
        self._connections.pop(connection).cancel()
        self.start(_close(connection))

    def _retire(self, connection: PostgresConnection) -> None:
        """Close a connection now, or when it is released."""
        connection.is_retired = True
        if connection in self._idle:
            self._idle.remove(connection)
            self._drop(connection)

    def _connect_if_needed(self) -> None:
        # Connections are opened one at a time: opening several at once would delay the
        # first one.
        has_room = len(self._connections) < timeouts.LIMITS.connections
        if has_room and not self._is_connecting:
            self._is_connecting = True
            self.start(self._add_connection())

    async def _add_connection(self) -> None:
        try:
            connection = await self._connect()
        except peewee.OperationalError as error:
            if not self._connections:
                # Requests are refused for a moment, since the server is unavailable.
                self._retry_at = clock.monotonic() + timeouts.LIMITS.back_off_seconds
                self._queue.fail_all(error)
            return
        finally:
            self._is_connecting = False
        connection.lender = self
        # Those that were opened together do not end together.
        seconds = timeouts.LIMITS.connection_seconds * randomness.source.uniform(0.5, 1)
        self._connections[connection] = self.loop.call_later(
            seconds, self._retire, connection
        )
        self.release(connection)


def is_over(waited: float, stalled: float) -> bool:
    """Return whether a request has waited for too long, in seconds."""
    limits = timeouts.LIMITS
    return stalled >= limits.stalled_seconds or waited >= limits.queue_seconds


async def _close(connection: PostgresConnection) -> None:
    """Close a connection, after a statement that was given up is cancelled."""
    with suppress(*FAILURES):
        await connection.close(timeout=timeouts.LIMITS.close_seconds)
