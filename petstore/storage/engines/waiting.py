"""Queues in which requests wait for a connection, or for their turn to write.

Waiting costs nothing for each request that waits: a queue has one timer. It has a
length and a deadline, and a wait ends when its client has gone. Everybody has a turn:
nobody waits behind all requests of somebody who sends thousands at once.

A request has one deadline for all that it waits for the stores. What waits for a store
takes its own limit, or what is left until then. Commands and background tasks have no
deadline.
"""

import asyncio
import math
from bisect import insort
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Generic, TypeVar

import peewee

from petstore import clock, timeouts
from petstore.waiting import Abandoned, wait_in_queue

Item = TypeVar("Item")
# The names of somebody who waits, the most precise one first: a key, and its address.
Who = tuple[Hashable, ...]

# With 16 waiting requests of other keys at its address, a request is as far behind as
# with one of its own key: a client can forge any number of keys, but addresses can also
# be shared.
NEIGHBOURS = 16
MICROSECONDS = 1_000_000

_who: ContextVar[Who | None] = ContextVar("who", default=(None,))

# When the current request waits for the stores no longer, by `clock.monotonic`.
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)
# A method of C, since most statements call it.
current_deadline = _deadline.get


class Busy(peewee.OperationalError):
    """Waiting for a lock or for a connection has timed out: others keep it."""


class Crowded(Busy):
    """Too many requests wait already, or one has waited for too long."""


class ClientGone(Busy):
    """Waiting has ended because nobody waits for the response any more."""


def wait_as(*names: Hashable) -> None:
    """Let the reads of this request take turns with those of other names."""
    _who.set(names)


@contextmanager
def without_waiting() -> Iterator[None]:
    """Raise `Busy` where a read in the block would have to wait for a connection."""
    token = _who.set(None)
    try:
        yield
    finally:
        _who.reset(token)


def who_waits() -> Who | None:
    """Return whose request this is; None if it must not wait."""
    return _who.get()


def begin_deadline() -> None:
    """Let the current request wait for the stores so long from now on, in all."""
    _deadline.set(clock.monotonic() + timeouts.LIMITS.stores_seconds)


def renew_deadline() -> None:
    """Begin the deadline anew, if there is one: the request has waited for others."""
    if current_deadline() < math.inf:
        begin_deadline()


def end_deadline() -> None:
    """Forget the deadline; a thread goes on to what is no part of the request."""
    _deadline.set(math.inf)


def seconds_left(deadline: float, limit: float = math.inf) -> float:
    """Return the limit, or the time until the deadline if that is less.

    Raises `Crowded` if none is left.
    """
    left = deadline - clock.monotonic()
    if left <= 0:
        raise Crowded("the request has waited for as long as it may")
    return min(limit, left)


async def wait_for_turn(place: asyncio.Future[Item]) -> Item:
    """Await the place of a request in a queue; raises `ClientGone`."""
    try:
        return await wait_in_queue(place)
    except Abandoned:
        raise ClientGone("the client has gone") from None


class AwakeTime:
    """Measures what waits by the time between two looks, in microseconds.

    However late a look comes, it counts as two of `LIMITS.check_seconds` at most: when
    a process was suspended, not all that waits must time out.
    """

    def __init__(self) -> None:
        self.passed = 0  # until the last look
        self._looked_at = 0.0

    def look(self, loop: asyncio.AbstractEventLoop) -> int:
        """Return how much has passed until now."""
        now = loop.time()
        seconds = min(now - self._looked_at, 2 * timeouts.LIMITS.check_seconds)
        self.passed += round(seconds * MICROSECONDS)
        self._looked_at = now
        return self.passed


@dataclass(eq=False, slots=True)
class _Waiter(Generic[Item]):
    place: asyncio.Future[Item]
    who: Who
    purpose: Hashable
    turn: float
    entered: int  # by the time of the queue
    seconds: float  # until its deadline


class WaitQueue(Generic[Item]):
    """Hands items to requests that wait for them.

    A request waits as long as `is_over` allows, which gets the seconds that it has
    waited, and of those the seconds since anybody was served. They are measured every
    `LIMITS.check_seconds`.
    """

    def __init__(self, is_over: Callable[[float, float], bool]) -> None:
        self._is_over = is_over
        # In the order in which they are served, as far as their purposes allow.
        self._waiters: list[_Waiter[Item]] = []
        self._waiting: Counter[Hashable] = Counter()  # by each of their names
        self._turn = 0.0  # of the request that was served last
        self._time = AwakeTime()
        self._served = 0  # by that time, when the last request was served
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._waiters)

    def wait(
        self, who: Who | None, purpose: Hashable = None, deadline: float = math.inf
    ) -> Coroutine[None, None, Item]:
        """Wait for an item; raises `Busy` if the queue is full, or in the end.

        The request has its place at once, and not only when the result is awaited:
        what it waits for may happen before that.
        """
        return self._wait(self._enter(who, purpose, deadline))

    async def _wait(self, waiter: _Waiter[Item]) -> Item:
        try:
            return await wait_for_turn(waiter.place)
        finally:
            if waiter in self._waiters:
                self._remove(waiter)

    def serve(self, item: Item, accepts: Callable[[Hashable], bool]) -> bool:
        """Hand an item to the first request with an accepted purpose, if there is any.

        Return whether there was one.
        """
        for waiter in self._waiters:
            if not waiter.place.done() and accepts(waiter.purpose):
                self._remove(waiter)
                self._turn = max(self._turn, waiter.turn)
                self._served = self._time.passed
                waiter.place.set_result(item)
                return True
        return False

    def serve_all(self, item: Item) -> None:
        """Hand the same item to all requests that wait."""
        while self.serve(item, lambda _: True):
            pass

    def fail_all(self, error: Exception) -> None:
        """Raise an error in all requests that wait."""
        while self._waiters:
            self._fail(self._waiters[0], error)

    def _enter(
        self, who: Who | None, purpose: Hashable, deadline: float
    ) -> _Waiter[Item]:
        if who is None:
            raise Crowded("nothing is free at the moment")
        seconds = seconds_left(deadline)
        turn = self._turn + self._requests_before(who)
        if len(self._waiters) >= timeouts.LIMITS.queue_length:
            self._make_room(turn)
        loop = asyncio.get_running_loop()
        place: asyncio.Future[Item] = loop.create_future()
        entered = self._time.look(loop)
        waiter = _Waiter(place, who, purpose, turn, entered, seconds)
        insort(self._waiters, waiter, key=lambda each: each.turn)
        self._waiting.update(who)
        if self._timer is None:
            self._check_later(loop)
        return waiter

    def _requests_before(self, who: Who) -> float:
        """Return how many requests of the same names come first."""
        own, *shared = (self._waiting[name] for name in who)
        return own + sum(shared) / NEIGHBOURS

    def _make_room(self, turn: float) -> None:
        """Refuse the request that would be served last, which may be the newest."""
        full, last = Crowded("too many requests wait already"), self._waiters[-1]
        if last.turn <= turn:
            raise full
        self._fail(last, full)

    def _check_later(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(timeouts.LIMITS.check_seconds, self._check, loop)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        now = self._time.look(loop)
        for waiter in list(self._waiters):
            waited = (now - waiter.entered) / MICROSECONDS
            stalled = min(waited, (now - self._served) / MICROSECONDS)
            if waited >= waiter.seconds or self._is_over(waited, stalled):
                self._fail(waiter, Crowded("others keep the database busy"))
        if self._waiters:
            self._check_later(loop)

    def _fail(self, waiter: _Waiter[Item], error: Exception) -> None:
        self._remove(waiter)
        if not waiter.place.done():
            waiter.place.set_exception(error)

    def _remove(self, waiter: _Waiter[Item]) -> None:
        self._waiters.remove(waiter)
        for name in waiter.who:
            self._waiting[name] -= 1
            if not self._waiting[name]:
                del self._waiting[name]
