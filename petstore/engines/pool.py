"""A pool of connections to PostgreSQL."""

import asyncio
import time
from collections.abc import Callable

import peewee

from petstore import waiting
from petstore.engines.base import as_peewee_errors
from petstore.engines.connection import Connection
from petstore.engines.queues import WaitQueue

MAX_CONNECTIONS = 6  # of a worker
# After a failure of the server, requests are refused at once for this time.
RETRY_SECONDS = 0.25


class Pool:
    """The connections of a process.

    A connection belongs either to the event loop, which watches its socket, or to the
    threads.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._idle_in_loop: list[Connection] = []
        self._idle_in_threads: list[Connection] = []
        self._count = 0  # of the event loop, idle or in use
        self._queue: WaitQueue[Connection] = WaitQueue()
        self._connecting: asyncio.Future[Connection] | None = None
        self._retry_at = 0.0

    def acquire(self) -> Connection:
        """Return an idle connection, or wait for one.

        Raises `peewee.OperationalError` if none is available in time.
        """
        idle = self._idle
        while idle:
            connection = idle.pop()
            if connection.is_idle and not connection.has_input:
                return connection
            self._drop(connection)
        if time.monotonic() < self._retry_at:
            raise peewee.OperationalError("no connection a moment ago")
        if not waiting.can_await():
            return self._connect_in_thread()
        self._connect_if_needed()
        return self._queue.wait()

    def release(self, connection: Connection) -> None:
        """Return a connection to the pool, for the next request that waits.

        A connection that is not idle is closed.
        """
        if connection.is_active:
            self._back_off()  # the server should have cancelled the statement before
        if not connection.is_idle:
            self._drop(connection)
            if waiting.can_await() and self._queue.has_waiters:
                self._connect_if_needed()
        elif not (waiting.can_await() and self._queue.wake_first(connection)):
            self._idle.append(connection)

    def close_idle(self) -> None:
        """Close all connections that are not in use.

        Connections of the event loop are closed only if it is the caller.
        """
        while self._idle_in_loop and waiting.can_await():
            self._drop(self._idle_in_loop.pop())
        while self._idle_in_threads:
            self._idle_in_threads.pop().close()

    @property
    def _idle(self) -> list[Connection]:
        return self._idle_in_loop if waiting.can_await() else self._idle_in_threads

    def _connect_in_thread(self) -> Connection:
        try:
            with as_peewee_errors:
                return self._connect()
        except peewee.OperationalError:
            self._back_off()
            raise

    def _drop(self, connection: Connection) -> None:
        if waiting.can_await():
            self._count -= 1
        connection.discard()

    def _back_off(self) -> None:
        """Refuse requests for RETRY_SECONDS, since the server is unavailable."""
        self._retry_at = time.monotonic() + RETRY_SECONDS
        # Idle connections may be broken, even when the server is available again.
        self.close_idle()

    def _connect_if_needed(self) -> None:
        """Open a connection in a thread, for the first request that waits.

        Connections are opened one at a time: opening several at once would delay the
        first one.
        """
        if self._connecting is None and self._count < MAX_CONNECTIONS:
            loop = asyncio.get_running_loop()
            self._connecting = loop.run_in_executor(None, self._connect)
            self._connecting.add_done_callback(self._on_connected)

    def _on_connected(self, connecting: asyncio.Future[Connection]) -> None:
        self._connecting = None
        error = connecting.exception()
        if error is None:
            self._count += 1
            if self._queue.wake_first(connecting.result()):
                self._connect_if_needed()
            else:
                self._idle_in_loop.append(connecting.result())
        elif self._count == 0:
            self._back_off()
            self._queue.fail_all(peewee.OperationalError(str(error)))
