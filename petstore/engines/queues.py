"""Requests that wait in line, unless the line stands still."""

import asyncio
from collections import deque
from typing import Generic, TypeVar

import peewee

from petstore import waiting

# After so many looks without anybody being served, a request gives up: 0.25 s. A
# process that stands still itself looks later.
MAX_STALLED_CHECKS = 5
CHECK_SECONDS = 0.05


Item = TypeVar("Item")


class WaitQueue(Generic[Item]):
    """First come, first served.

    Only requests in an event loop wait here: elsewhere there are few threads anyway.
    """

    def __init__(self) -> None:
        self._waiters: deque[asyncio.Future[Item]] = deque()
        self._served = 0

    @property
    def has_waiters(self) -> bool:
        """Whether anybody waits."""
        return any(not waiter.done() for waiter in self._waiters)

    def wait(self) -> Item:
        """What the request is served with, when it is its turn.

        Raises `peewee.OperationalError` when nobody was served for so long that waiting
        seems to be of no use.
        """
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        self._waiters.append(waiter)
        loop.call_later(
            CHECK_SECONDS,
            self._check_progress,
            waiter,
            self._served,
            MAX_STALLED_CHECKS - 1,
        )
        return waiting.wait(waiter)

    def wake_first(self, item: Item) -> bool:
        """Serve the first in line; False where nobody waits."""
        self._served += 1
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(item)
                return True
        return False

    def fail_all(self, error: Exception) -> None:
        """Let all who wait fail."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_exception(error)

    def _check_progress(
        self, waiter: asyncio.Future[Item], served: int, checks_left: int
    ) -> None:
        """Give a turn up, unless others were served meanwhile."""
        if waiter.done():
            return
        if self._served != served:
            served, checks_left = self._served, MAX_STALLED_CHECKS
        if checks_left:
            loop = asyncio.get_running_loop()
            loop.call_later(
                CHECK_SECONDS, self._check_progress, waiter, served, checks_left - 1
            )
        else:
            waiter.set_exception(
                peewee.OperationalError("others keep the database busy")
            )


class Semaphore:
    """At most so many requests at a time."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._queue: WaitQueue[None] = WaitQueue()

    def acquire(self) -> None:
        """Wait for a permit; raises what `Line.wait` raises."""
        if not waiting.can_await():
            return
        if self._free:
            self._free -= 1
        else:
            self._queue.wait()

    def release(self) -> None:
        """Give a permit back, in the request that has acquired it."""
        if waiting.can_await() and not self._queue.wake_first(None):
            self._free += 1
