"""A wait queue that times out only while nobody is served."""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Generic, TypeVar

import peewee

from petstore.server import timeouts

Item = TypeVar("Item")


class Busy(peewee.OperationalError):
    """The database is available, but others keep it busy."""


class WaitQueue(Generic[Item]):
    """Lends items to requests, which wait first-in, first-out while there are none.

    Without a timeout, they wait forever. It is used in one event loop only.
    """

    def __init__(self, items: Iterable[Item] = (), *, has_timeout: bool = True) -> None:
        self.items = list(items)  # that nobody uses
        self._has_timeout = has_timeout
        self._waiters: deque[asyncio.Future[Item]] = deque()
        self._served = 0

    @property
    def has_waiters(self) -> bool:
        """Whether any request is waiting."""
        return bool(self._waiters)

    async def get(self) -> Item:
        """Return the item that was put back last, or wait for one.

        Raises `Busy` if nobody in the queue was served during `stalled_checks`.
        """
        if self.items:
            return self.items.pop()
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        limits, stalled_checks, served = timeouts.LIMITS, 0, self._served
        while not waiter.done():
            if stalled_checks >= limits.stalled_checks and self._has_timeout:
                self._waiters.remove(waiter)
                raise Busy("others keep the database busy")
            await asyncio.wait([waiter], timeout=limits.check_seconds)
            stalled_checks = stalled_checks + 1 if served == self._served else 0
            served = self._served
        return waiter.result()

    def put(self, item: Item) -> None:
        """Pass an item to the first waiting request, or keep it for the next one."""
        self._served += 1
        if self._waiters:
            self._waiters.popleft().set_result(item)
        else:
            self.items.append(item)

    def fail_all(self, error: Exception) -> None:
        """Raise an error in all waiting requests."""
        while self._waiters:
            self._waiters.popleft().set_exception(error)
