"""A pool of connections to PostgreSQL, used in one event loop only."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable
from contextlib import suppress
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

import peewee

from petstore.server import timeouts
from petstore.storage.engines.connection import FAILURES, Busy, Connection

Item = TypeVar("Item")


class Pool:
    """The connections of a process; without a timeout, requests wait forever."""

    def __init__(
        self, connect: Callable[[], Awaitable[Connection]], *, has_timeout: bool
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self._connect = connect
        self._idle: WaitQueue[Connection] = WaitQueue(has_timeout=has_timeout)
        self._count = 0  # idle or in use
        self._is_connecting = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._retry_at = 0.0
        # Each connection that writes, and the queue to which its permit returns.
        self._writers: dict[Connection, WaitQueue[None]] = {}
        # The permits of each key; a queue goes with the last request of its key.
        self._permits: WeakValueDictionary[Hashable, WaitQueue[None]] = (
            WeakValueDictionary()
        )

    @property
    def lock_seconds(self) -> float:
        """How long the newest writer may wait for each lock."""
        limits = timeouts.LIMITS
        has_room = len(self._writers) <= limits.waiting_connections
        return limits.lock_seconds if has_room else limits.short_lock_seconds

    async def acquire_to_write(self, key: Hashable) -> Connection:
        """Return a connection once fewer than `LIMITS.writes` write for the key.

        Otherwise requests that wait for a lock of one project could take all
        connections. There is no such limit for the key None.
        """
        permits = self._permits.get(key) or WaitQueue([None] * timeouts.LIMITS.writes)
        if key is not None:
            self._permits[key] = permits
        await permits.get()
        try:
            connection = await self.acquire()
        except BaseException:
            permits.put(None)
            raise
        self._writers[connection] = permits
        return connection

    async def acquire(self) -> Connection:
        """Return an idle connection, or wait for one.

        Raises `peewee.OperationalError` if none is available in time.
        """
        while self._idle.items:
            connection = self._idle.items.pop()
            if connection.is_idle:
                return connection
            self._drop(connection)
        if time.monotonic() < self._retry_at:
            raise peewee.OperationalError("no connection a moment ago")
        self._connect_if_needed()
        return await self._idle.get()

    def release(self, connection: Connection) -> None:
        """Return a connection to the pool, for the next request that waits.

        A connection that is not idle is closed, so its transaction is rolled back.
        """
        if permits := self._writers.pop(connection, None):
            permits.put(None)
        if connection.is_idle:
            self._idle.put(connection)
            return
        if connection.is_uncertain:
            self._back_off()  # an available server would have cancelled the statement
        self._drop(connection)
        if self._idle.waiters:
            self._connect_if_needed()

    async def close(self) -> None:
        """Close all connections that are not in use."""
        self._drop_idle()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _drop_idle(self) -> None:
        while self._idle.items:
            self._drop(self._idle.items.pop())

    def _drop(self, connection: Connection) -> None:
        self._count -= 1
        self._start(_close(connection))

    def _back_off(self) -> None:
        """Refuse requests for a moment, since the server is unavailable."""
        self._retry_at = time.monotonic() + timeouts.LIMITS.back_off_seconds
        # Idle connections may be broken, even when the server is available again.
        self._drop_idle()

    def _connect_if_needed(self) -> None:
        # Connections are opened one at a time: opening several at once would delay the
        # first one.
        if not self._is_connecting and self._count < timeouts.LIMITS.connections:
            self._is_connecting = True
            self._start(self._add_connection())

    async def _add_connection(self) -> None:
        try:
            connection = await self._connect()
        except peewee.OperationalError as error:
            if self._count == 0:
                self._back_off()
                self._idle.fail_all(error)
            return
        finally:
            self._is_connecting = False
        self._count += 1
        self.release(connection)
        if self._idle.waiters:
            self._connect_if_needed()

    def _start(self, coroutine: Coroutine[None, None, None]) -> None:
        task = self.loop.create_task(coroutine)
        self._tasks.add(task)  # the event loop keeps only a weak reference
        task.add_done_callback(self._tasks.discard)


async def _close(connection: Connection) -> None:
    """Close a connection, after a statement that was given up is cancelled."""
    with suppress(*FAILURES):
        await connection.close(timeout=timeouts.LIMITS.close_seconds)


class WaitQueue(Generic[Item]):
    """Lends items to requests, which wait first-in, first-out while there are none.

    Without a timeout, they wait forever.
    """

    def __init__(self, items: Iterable[Item] = (), *, has_timeout: bool = True) -> None:
        self.items = list(items)  # that nobody uses
        self._has_timeout = has_timeout
        self.waiters: deque[asyncio.Future[Item]] = deque()
        self._served = 0

    async def get(self) -> Item:
        """Return the item that was put back last, or wait for one.

        Raises `Busy` if nobody in the queue was served during `stalled_checks`.
        """
        if self.items:
            return self.items.pop()
        waiter = asyncio.get_running_loop().create_future()
        self.waiters.append(waiter)
        limits, stalled_checks, served = timeouts.LIMITS, 0, self._served
        while not waiter.done():
            if stalled_checks >= limits.stalled_checks and self._has_timeout:
                self.waiters.remove(waiter)
                raise Busy("others keep the database busy")
            await asyncio.wait([waiter], timeout=limits.check_seconds)
            stalled_checks = stalled_checks + 1 if served == self._served else 0
            served = self._served
        return waiter.result()

    def put(self, item: Item) -> None:
        """Pass an item to the first waiting request, or keep it for the next one."""
        self._served += 1
        if self.waiters:
            self.waiters.popleft().set_result(item)
        else:
            self.items.append(item)

    def fail_all(self, error: Exception) -> None:
        """Raise an error in all waiting requests."""
        while self.waiters:
            self.waiters.popleft().set_exception(error)
