"""A wait queue and a semaphore that time out only when nothing moves."""

import asyncio
from collections import deque
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

import peewee

from petstore import waiting

# A request times out after so many checks in a row (0.25 s) during which no request was
# served. Checks are counted instead of seconds, so that not all requests time out when
# the process was suspended.
MAX_STALLED_CHECKS = 5
CHECK_SECONDS = 0.05


Item = TypeVar("Item")


class Busy(peewee.OperationalError):
    """Others keep the database busy, which is available."""


class WaitQueue(Generic[Item]):
    """A first-in, first-out queue of requests that wait for an item.

    It can only be used in an event loop.
    """

    def __init__(self) -> None:
        self._waiters: deque[asyncio.Future[Item]] = deque()
        self._served = 0

    @property
    def has_waiters(self) -> bool:
        """Whether any request is waiting."""
        return any(not waiter.done() for waiter in self._waiters)

    def wait(self) -> Item:
        """Wait for an item and return it.

        Raises `Busy` if nobody in the queue was served for MAX_STALLED_CHECKS times
        CHECK_SECONDS.
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
        """Pass an item to the first waiting request; return False if there is none."""
        self._served += 1
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(item)
                return True
        return False

    def fail_all(self, error: Exception) -> None:
        """Raise an error in all waiting requests."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_exception(error)

    def _check_progress(
        self, waiter: asyncio.Future[Item], served: int, checks_left: int
    ) -> None:
        """Let a waiting request time out, unless others were served meanwhile."""
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
            waiter.set_exception(Busy("others keep the database busy"))


class Semaphore(AbstractContextManager[None]):
    """Lets at most `count` requests of an event loop run the block at a time.

    Threads are not limited: there are few of them.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._queue: WaitQueue[None] = WaitQueue()

    def __enter__(self) -> None:
        """Wait for a permit; raises what `WaitQueue.wait` raises."""
        if not waiting.can_await():
            return
        if self._free:
            self._free -= 1
        else:
            self._queue.wait()

    def __exit__(self, *_exception: object) -> None:
        """Give back the permit."""
        if waiting.can_await() and not self._queue.wake_first(None):
            self._free += 1
