"""A wait queue and a semaphore that time out only while nobody is served.

Both are used in the event loop only.
"""

import asyncio
from collections import deque
from typing import Generic, TypeVar

import peewee

from petstore.server import timeouts

Item = TypeVar("Item")


class Busy(peewee.OperationalError):
    """The database is available, but others keep it busy."""


class WaitQueue(Generic[Item]):
    """A first-in, first-out queue of requests that wait for an item.

    Without a timeout, they wait forever.
    """

    def __init__(self, *, has_timeout: bool = True) -> None:
        self._has_timeout = has_timeout
        self._waiters: deque[asyncio.Future[Item]] = deque()
        self._served = 0

    @property
    def has_waiters(self) -> bool:
        """Whether any request is waiting."""
        return any(not waiter.done() for waiter in self._waiters)

    async def wait(self) -> Item:
        """Wait for an item and return it.

        Raises `Busy` if nobody in the queue was served during `stalled_checks`.
        """
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        limits, stalled_checks, served = timeouts.LIMITS, 0, self._served
        while not waiter.done():
            if stalled_checks >= limits.stalled_checks and self._has_timeout:
                waiter.cancel()
                raise Busy("others keep the database busy")
            await asyncio.wait([waiter], timeout=limits.check_seconds)
            stalled_checks = stalled_checks + 1 if served == self._served else 0
            served = self._served
        return waiter.result()

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


class Semaphore:
    """Lets at most `count` requests go on at a time."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._queue: WaitQueue[None] = WaitQueue()

    async def acquire(self) -> None:
        """Wait for a permit; raises what `WaitQueue.wait` raises."""
        if self._free:
            self._free -= 1
        else:
            await self._queue.wait()

    def release(self) -> None:
        """Give back the permit."""
        if not self._queue.wake_first(None):
            self._free += 1
