"""Connections to PostgreSQL, lent for a statement or a transaction each."""

import asyncio
import time
from collections.abc import Callable

import peewee

from petstore import waiting
from petstore.engines.connection import Connection
from petstore.engines.lines import Line
from petstore.engines.requests import as_peewee_errors

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
        self._line: Line[Connection] = Line()
        self._connecting: asyncio.Future[Connection] | None = None
        self._retry_at = 0.0

    def lend(self) -> Connection:
        """A connection whose server waits for a statement.

        Raises `peewee.OperationalError` where there is none in time.
        """
        if not waiting.can_await():
            return self._lend_to_thread()
        while self._idle:
            connection = self._idle.pop()
            if connection.is_idle and not connection.has_news:
                return connection
            self._drop(connection)
        self._require_server()
        self._connect_if_needed()
        return self._line.wait()

    def take_back(self, connection: Connection) -> None:
        """Lend a connection to the next in line, unless it is of no use any more."""
        if connection.is_working:
            self._pause()  # the server should have given up before
        if not waiting.can_await():
            self._take_back_from_thread(connection)
        elif not connection.is_idle:
            self._drop(connection)
            if self._line.is_waiting:
                self._connect_if_needed()
        elif not self._line.serve(connection):
            self._idle.append(connection)

    def close_idle(self) -> None:
        """Close what is not in use; of those of the loop, only the loop may."""
        while self._idle and waiting.can_await():
            self._drop(self._idle.pop())
        while self._idle_in_threads:
            self._idle_in_threads.pop().close()

    def _lend_to_thread(self) -> Connection:
        while self._idle_in_threads:
            connection = self._idle_in_threads.pop()
            if connection.is_idle and not connection.has_news:
                return connection
            connection.close()
        self._require_server()
        try:
            with as_peewee_errors:
                return self._connect()
        except peewee.OperationalError:
            self._pause()
            raise

    def _take_back_from_thread(self, connection: Connection) -> None:
        if connection.is_idle:
            self._idle_in_threads.append(connection)
        else:
            connection.discard()

    def _drop(self, connection: Connection) -> None:
        self._count -= 1
        connection.discard()

    def _pause(self) -> None:
        """Refuse requests for a moment: the server is away."""
        self._retry_at = time.monotonic() + RETRY_SECONDS
        # What was open may lead nowhere, even when the server is back.
        self.close_idle()

    def _require_server(self) -> None:
        if time.monotonic() < self._retry_at:
            raise peewee.OperationalError("no connection a moment ago")

    def _connect_if_needed(self) -> None:
        """Connect in a thread, for whoever is then the first in line.

        One after the other: many that begin at once take long to be of use to anybody.
        """
        if self._connecting is None and self._count < MAX_CONNECTIONS:
            loop = asyncio.get_running_loop()
            self._connecting = loop.run_in_executor(None, self._connect)
            self._connecting.add_done_callback(self._end_connecting)

    def _end_connecting(self, connecting: asyncio.Future[Connection]) -> None:
        self._connecting = None
        error = connecting.exception()
        if error is None:
            self._count += 1
            if self._line.serve(connecting.result()):
                self._connect_if_needed()
            else:
                self._idle.append(connecting.result())
        elif self._count == 0:
            self._pause()
            self._line.dismiss(peewee.OperationalError(str(error)))
