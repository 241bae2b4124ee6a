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
LOOK_SECONDS = 0.1
CANCEL_SECONDS = 2.0


class Connection(psycopg.Connection):
    """A connection that lets the event loop go on while the server works."""

    seconds: float | None = None  # for each step of the protocol
    _loop: asyncio.AbstractEventLoop | None = None  # that watches the socket
    _socket = -1  # its number, which is not told any more when it is closed
    _answer: asyncio.Future[None] | None = None  # while it is waited for
    _gives_up_at = 0.0
    _timer: asyncio.TimerHandle | None = None

    def wait(self, gen: Any, *_options: Any, **_named: Any) -> Any:
        """Carry out a step of the protocol; raises `psycopg.OperationalError`."""
        if not waiting.can_await():
            return super().wait(gen, timeout=self.seconds)
        loop = self._watch()
        try:
            wanted = next(gen)
            while wanted == Wait.R:
                self._wait_for_answer(loop)
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
            wait_async(gen, self.pgconn.socket, STATEMENT_SECONDS, self.seconds)
        )

    @property
    def is_working(self) -> bool:
        """Whether the server has not answered yet."""
        return self.info.transaction_status == TransactionStatus.ACTIVE

    @property
    def is_idle(self) -> bool:
        """Whether the server waits for a statement."""
        return self.info.transaction_status == TransactionStatus.IDLE

    @property
    def has_news(self) -> bool:
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
        if self.is_working:
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
            self._loop.add_reader(self._socket, self._notice)
        return self._loop

    def _unwatch(self) -> None:
        if self._loop:
            self._loop.remove_reader(self._socket)
            self._loop = None

    def _wait_for_answer(self, loop: asyncio.AbstractEventLoop) -> None:
        self._answer = loop.create_future()
        self._gives_up_at = loop.time() + STATEMENT_SECONDS
        if self._timer is None:
            self._timer = loop.call_later(LOOK_SECONDS, self._look, loop)
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

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Called by the loop now and then while an answer is waited for.

        One timer serves many statements: to set one for each would cost a tenth more.
        """
        self._timer = None
        if self._answer is None or self._answer.done():
            return
        if self.has_news:  # a socket that has failed, of which uvloop does not tell
            self._answer.set_result(None)
        elif loop.time() < self._gives_up_at:
            self._timer = loop.call_later(LOOK_SECONDS, self._look, loop)
        else:
            late = psycopg.OperationalError("the server took too long")
            self._answer.set_exception(late)
