"""A connection to PostgreSQL whose statements are awaited and time out."""

import asyncio
import select
import threading
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.waiting import Ready, Wait, wait_async

from petstore import waiting

STATEMENT_SECONDS = 2.0
CHECK_SECONDS = 0.1
CANCEL_SECONDS = 2.0


class Connection(psycopg.Connection):
    """A psycopg connection that lets the event loop run while the server works."""

    timeout_seconds: float | None = None  # for each wait; None for no limit
    _loop: asyncio.AbstractEventLoop | None = None  # it watches the socket
    _socket = -1  # its descriptor, which psycopg no longer knows when it is closed
    _waiter: asyncio.Future[None] | None = None  # while a request waits for input
    _deadline = 0.0
    _timer: asyncio.TimerHandle | None = None

    def wait(self, gen: Any, *_options: Any, **_named: Any) -> Any:
        """Run a generator of psycopg and return its result; called by psycopg.

        Raises `psycopg.OperationalError` if the server does not answer in time.
        """
        if not waiting.can_await():
            return super().wait(gen, timeout=self.timeout_seconds)
        loop = self._watch()
        try:
            wanted = next(gen)
            while wanted == Wait.R:
                self._wait_for_input(loop)
                wanted = gen.send(Ready.R)
        except StopIteration as end:
            return end.value
        except psycopg.OperationalError:
            if self.closed:
                self._unwatch()
            raise
        # This is rare: the server does not read, and psycopg has to wait to send.
        self._unwatch()
        return waiting.wait(
            wait_async(gen, self.pgconn.socket, STATEMENT_SECONDS, self.timeout_seconds)
        )

    @property
    def is_active(self) -> bool:
        """Whether the server is still running a statement."""
        return self.info.transaction_status == TransactionStatus.ACTIVE

    @property
    def is_idle(self) -> bool:
        """Whether neither a transaction nor a statement is under way."""
        return self.info.transaction_status == TransactionStatus.IDLE

    @property
    def has_input(self) -> bool:
        """Whether the server has sent something or has closed the connection."""
        poller = select.poll()
        poller.register(self.fileno(), select.POLLIN)
        return bool(poller.poll(0))

    def close(self) -> None:
        """Close the connection."""
        self._unwatch()
        super().close()

    def discard(self) -> None:
        """Close the connection, and cancel a statement that is still running."""
        self._unwatch()
        if self.is_active:
            threading.Thread(target=self._cancel_and_close, daemon=True).start()
        else:
            self.close()

    def _cancel_and_close(self) -> None:
        with suppress(psycopg.Error):
            self.cancel_safe(timeout=CANCEL_SECONDS)
        self.close()

    def _watch(self) -> asyncio.AbstractEventLoop:
        # The socket is watched all the time. Adding and removing the reader for each
        # statement would make a statement a fifth slower.
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._socket = self.pgconn.socket
            self._loop.add_reader(self._socket, self._on_readable)
        return self._loop

    def _unwatch(self) -> None:
        if self._loop:
            self._loop.remove_reader(self._socket)
            self._loop = None

    def _wait_for_input(self, loop: asyncio.AbstractEventLoop) -> None:
        self._waiter = loop.create_future()
        self._deadline = loop.time() + STATEMENT_SECONDS
        if self._timer is None:
            self._timer = loop.call_later(CHECK_SECONDS, self._check_deadline, loop)
        try:
            waiting.wait(self._waiter)
        finally:
            self._waiter = None

    def _on_readable(self) -> None:
        """Wake the request that waits for input; called by the event loop."""
        if self._waiter is None:
            self.close()  # no statement is running: the server closes the connection
        elif not self._waiter.done():
            self._waiter.set_result(None)

    def _check_deadline(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let the request that waits for input time out at its deadline.

        The event loop calls this every CHECK_SECONDS. One timer serves many statements;
        a timer for each would make a statement a tenth slower.
        """
        self._timer = None
        if self._waiter is None or self._waiter.done():
            return
        if self.has_input:  # uvloop does not report a socket that has failed
            self._waiter.set_result(None)
        elif loop.time() < self._deadline:
            self._timer = loop.call_later(CHECK_SECONDS, self._check_deadline, loop)
        else:
            timed_out = psycopg.OperationalError("the server took too long")
            self._waiter.set_exception(timed_out)
