"""Waiting in line for one of a few things, unless the line stands still."""

import asyncio
import time
from collections import deque

import peewee

from petstore import waiting

STALLED_SECONDS = 0.25


class Permits:
    """At most so many at a time, first come, first served.

    Only requests in an event loop need one: elsewhere there are few threads anyway.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[asyncio.Future] = deque()
        self._released_at = 0.0

    def acquire(self) -> None:
        """Wait for a permit, which must be released by the same request.

        Raises `peewee.OperationalError` when none was released for so long that
        waiting seems to be of no use.
        """
        if not waiting.can_await():
            return
        if self._free:
            self._free -= 1
            return
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._waiting.append(turn)
        loop.call_later(STALLED_SECONDS, self._check, turn)
        waiting.wait(turn)

    def release(self) -> None:
        """Hand the permit to the first in line."""
        if not waiting.can_await():
            return
        self._released_at = time.monotonic()
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _check(self, turn: asyncio.Future) -> None:
        """Give a turn up, unless others were served meanwhile."""
        if turn.done():
            return
        left = self._released_at + STALLED_SECONDS - time.monotonic()
        if left > 0:
            asyncio.get_running_loop().call_later(left, self._check, turn)
        else:
            turn.set_exception(peewee.OperationalError("others keep the database busy"))
