"""Requests that wait in line, unless the line stands still."""

import asyncio
from collections import deque
from typing import Generic, TypeVar

import peewee

from petstore import waiting

# After so many looks without anybody being served, a request gives up: 0.25 s. A
# process that stands still itself looks later.
LOOKS = 5
LOOK_SECONDS = 0.05


Thing = TypeVar("Thing")


class Line(Generic[Thing]):
    """First come, first served.

    Only requests in an event loop wait here: elsewhere there are few threads anyway.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[Thing]] = deque()
        self._served = 0

    @property
    def is_waiting(self) -> bool:
        """Whether anybody waits."""
        return any(not turn.done() for turn in self._waiting)

    def wait(self) -> Thing:
        """What the request is served with, when it is its turn.

        Raises `peewee.OperationalError` when nobody was served for so long that waiting
        seems to be of no use.
        """
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._waiting.append(turn)
        loop.call_later(LOOK_SECONDS, self._look, turn, self._served, LOOKS - 1)
        return waiting.wait(turn)

    def serve(self, thing: Thing) -> bool:
        """Serve the first in line; False where nobody waits."""
        self._served += 1
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(thing)
                return True
        return False

    def dismiss(self, error: Exception) -> None:
        """Let all who wait fail."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(error)

    def _look(self, turn: asyncio.Future[Thing], served: int, looks: int) -> None:
        """Give a turn up, unless others were served meanwhile."""
        if turn.done():
            return
        if self._served != served:
            served, looks = self._served, LOOKS
        if looks:
            loop = asyncio.get_running_loop()
            loop.call_later(LOOK_SECONDS, self._look, turn, served, looks - 1)
        else:
            turn.set_exception(peewee.OperationalError("others keep the database busy"))


class Permits:
    """At most so many requests at a time."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._line: Line[None] = Line()

    def acquire(self) -> None:
        """Wait for a permit; raises what `Line.wait` raises."""
        if not waiting.can_await():
            return
        if self._free:
            self._free -= 1
        else:
            self._line.wait()

    def release(self) -> None:
        """Give a permit back, in the request that has acquired it."""
        if waiting.can_await() and not self._line.serve(None):
            self._free += 1
