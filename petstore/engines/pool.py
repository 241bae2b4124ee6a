"""Connections to PostgreSQL, lent for a statement or a transaction each."""

import asyncio
import time
from collections.abc import Callable

import peewee

from petstore import waiting
from petstore.engines.base import as_peewee_errors
from petstore.engines.connection import Connection
from petstore.engines.queues import WaitQueue

MAX_CONNECTIONS = 6  # of a worker
# For so long after a failure nobody waits for a connection.
RETRY_SECONDS = 0.25


class Pool:
    """The connections of a process.

    Threads have theirs apart from those of the event loop, which watches its own.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._idle: list[Connection] = []
        self._idle_in_threads: list[Connection] = []
        self._count = 0  # of those of the event loop, idle or in use
        self._queue: WaitQueue[Connection] = WaitQueue()
        self._connecting: asyncio.Future[Connection] | None = None
        self._retry_at = 0.0

    def acquire(self) -> Connection:
        """A connection whose server waits for a statement.

        Raises `peewee.OperationalError` where there is none in time.
        """
        if not waiting.can_await():
            return self._acquire_in_thread()
        while self._idle:
            connection = self._idle.pop()
            if connection.is_idle and not connection.has_input:
                return connection
            self._drop(connection)
        self._raise_while_backing_off()
        self._connect_if_needed()
        return self._queue.wait()

    def release(self, connection: Connection) -> None:
        """Lend a connection to the next in line, unless it is of no use any more."""
        if connection.is_active:
            self._back_off()  # the server should have given up before
        if not waiting.can_await():
            self._release_in_thread(connection)
        elif not connection.is_idle:
            self._drop(connection)
            if self._queue.has_waiters:
                self._connect_if_needed()
        elif not self._queue.wake_first(connection):
            self._idle.append(connection)

    def close_idle(self) -> None:
        """Close what is not in use; of those of the loop, only the loop may."""
        while self._idle and waiting.can_await():
            self._drop(self._idle.pop())
        while self._idle_in_threads:
            self._idle_in_threads.pop().close()

    def _acquire_in_thread(self) -> Connection:
        while self._idle_in_threads:
            connection = self._idle_in_threads.pop()
            if connection.is_idle and not connection.has_input:
                return connection
            connection.close()
        self._raise_while_backing_off()
        try:
            with as_peewee_errors:
                return self._connect()
        except peewee.OperationalError:
            self._back_off()
            raise

    def _release_in_thread(self, connection: Connection) -> None:
        if connection.is_idle:
            self._idle_in_threads.append(connection)
        else:
            connection.discard()

    def _drop(self, connection: Connection) -> None:
        self._count -= 1
        connection.discard()

    def _back_off(self) -> None:
        """Refuse requests for a moment: the server is away."""
        self._retry_at = time.monotonic() + RETRY_SECONDS
        # What was open may lead nowhere, even when the server is back.
        self.close_idle()

    def _raise_while_backing_off(self) -> None:
        if time.monotonic() < self._retry_at:
            raise peewee.OperationalError("no connection a moment ago")

    def _connect_if_needed(self) -> None:
        """Connect in a thread, for whoever is then the first in line.

        One after the other: many that begin at once take long to be of use to anybody.
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
                self._idle.append(connecting.result())
        elif self._count == 0:
            self._back_off()
            self._queue.fail_all(peewee.OperationalError(str(error)))
