"""A connection to PostgreSQL whose statements are awaited, and given up in time."""

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
    """A connection that lets the event loop go on while the server works."""

    timeout_seconds: float | None = None  # for each step of the protocol
    _loop: asyncio.AbstractEventLoop | None = None  # that watches the socket
    _socket = -1  # its number, which is not told any more when it is closed
    _waiter: asyncio.Future[None] | None = None  # while it is waited for
    _deadline = 0.0
    _timer: asyncio.TimerHandle | None = None

    def wait(self, gen: Any, *_options: Any, **_named: Any) -> Any:
        """Carry out a step of the protocol; raises `psycopg.OperationalError`."""
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
        # Seldom: the server does not read what is to be sent.
        self._unwatch()
        return waiting.wait(
            wait_async(gen, self.pgconn.socket, STATEMENT_SECONDS, self.timeout_seconds)
        )

    @property
    def is_active(self) -> bool:
        """Whether the server has not answered yet."""
        return self.info.transaction_status == TransactionStatus.ACTIVE

    @property
    def is_idle(self) -> bool:
        """Whether the server waits for a statement."""
        return self.info.transaction_status == TransactionStatus.IDLE

    @property
    def has_input(self) -> bool:
        """Whether the server has sent something, or has gone."""
        poller = select.poll()
        poller.register(self.fileno(), select.POLLIN)
        return bool(poller.poll(0))

    def close(self) -> None:
        """End the connection."""
        self._unwatch()
        super().close()

    def discard(self) -> None:
        """Close, and tell the server to stop what it may still be doing."""
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
        # The socket is watched all the time: to begin and to end it for each statement
        # would cost a fifth of the statement.
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
        """Called by the loop when the server has sent something, or has gone."""
        if self._waiter is None:
            self.close()  # nothing was asked: the server says goodbye
        elif not self._waiter.done():
            self._waiter.set_result(None)

    def _check_deadline(self, loop: asyncio.AbstractEventLoop) -> None:
        """Called by the loop now and then while an answer is waited for.

        One timer serves many statements: to set one for each would cost a tenth more.
        """
        self._timer = None
        if self._waiter is None or self._waiter.done():
            return
        if self.has_input:  # a socket that has failed, of which uvloop does not tell
            self._waiter.set_result(None)
        elif loop.time() < self._deadline:
            self._timer = loop.call_later(CHECK_SECONDS, self._check_deadline, loop)
        else:
            timed_out = psycopg.OperationalError("the server took too long")
            self._waiter.set_exception(timed_out)
