"""Waiting while another connection has locked an SQLite file."""

import asyncio
import sqlite3
import time
from bisect import insort
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from petstore import clock, timeouts
from petstore.storage.engines.waiting import (
    MICROSECONDS,
    AwakeTime,
    Crowded,
    wait_for_turn,
)
from petstore.waiting import await_result, can_await, require_may_wait

Result = TypeVar("Result")


class _Try(NamedTuple):
    function: Callable[[], Any]
    place: asyncio.Future[Any]
    last: int  # when it is tried for the last time, by the time of the file


class BusyFile:
    """A file that other connections lock from time to time."""

    def __init__(self) -> None:
        # Who has the least time left is the first.
        self._waiting: deque[_Try] = deque()
        self._time = AwakeTime()

    def retry(
        self, function: Callable[..., Result], *arguments: Any, seconds: float
    ) -> Result:
        """Call a function until the file is not locked; return the result.

        The error is raised when no time is left. SQLite itself would block the event
        loop while it waits.
        """
        require_may_wait()
        ends, pause = clock.monotonic() + seconds, timeouts.LIMITS.retry_seconds
        tries = round(seconds / pause)  # they end even if the clock stands still
        while True:
            tries -= 1
            try:
                return function(*arguments)
            except sqlite3.OperationalError as error:
                seconds = min(ends - clock.monotonic(), tries * pause)
                if seconds <= 0 or not is_busy(error):
                    raise
            if can_await():
                return await_result(self._wait(partial(function, *arguments), seconds))
            time.sleep(pause)

    async def _wait(self, function: Callable[[], Result], seconds: float) -> Result:
        """Wait until the event loop has called the function, in turn with others.

        There is one timer, and one call at a time while the file stays locked, however
        many wait.
        """
        if len(self._waiting) >= timeouts.LIMITS.queue_length:
            raise Crowded("too many requests wait already")
        loop = asyncio.get_running_loop()
        place: asyncio.Future[Result] = loop.create_future()
        last = self._time.look(loop) + round(seconds * MICROSECONDS)
        insort(self._waiting, _Try(function, place, last), key=lambda each: each.last)
        if len(self._waiting) == 1:
            self._try_later(loop)
        return await wait_for_turn(place)

    def _try_later(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(timeouts.LIMITS.retry_seconds, self._try_all, loop)

    def _try_all(self, loop: asyncio.AbstractEventLoop) -> None:
        """Call the functions in turn, until one finds the file locked."""
        now = self._time.look(loop)
        while self._waiting:
            if not self._has_ended(self._waiting[0], now):
                self._try_later(loop)
                return
            self._waiting.popleft()

    def _has_ended(self, first: _Try, now: int) -> bool:
        if first.place.done():  # its client has gone
            return True
        try:
            first.place.set_result(first.function())
        except Exception as error:  # noqa: BLE001 (it belongs to the request)
            is_locked = isinstance(error, sqlite3.Error) and is_busy(error)
            if is_locked and now < first.last:
                return False
            first.place.set_exception(error)
        return True


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether the error means that another connection has locked the file."""
    # An error of Python's module, and not of SQLite, has no code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return code & 0xFF == sqlite3.SQLITE_BUSY
