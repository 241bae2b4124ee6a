"""A simulated world: virtual time, dice from a seed, and actors that wait in it."""

import hashlib
import heapq
import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from datetime import UTC, datetime
from functools import partial
from struct import pack
from typing import Any

START_MS = int(datetime(2027, 3, 17, 12, 0, 10, tzinfo=UTC).timestamp()) * 1000
MOST_EVENTS_AT_ONCE = 100_000
MOST_SECONDS = 10_000  # of a run

Resume = Callable[[Any], None]


class Stuck(Exception):
    """Nothing will ever happen any more, or time stands still."""


class World:
    """Time, chance and what has happened; one for each run of a plan."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.now = 1000.0
        self.set_back_ms = 0  # how far the clock of the machine is behind
        self.counts: Counter[str] = Counter()  # of faults and such that have happened
        self.faults: list[str] = []  # broken promises, found while it runs
        self.notes: list[tuple[float, str, str]] = []
        self.digest = hashlib.blake2b(digest_size=8)
        self._events: list[tuple[float, int, Callable[..., None], tuple]] = []
        self._numbers = itertools.count()
        self._stalled = 0  # events since time went on

    def dice(self, name: str) -> random.Random:
        """Return dice of their own, so that others may be taken away."""
        return random.Random(f"{self.seed} {name}")

    def now_ms(self) -> int:
        """Return the time of the machine's clock, which may be set."""
        return self.true_ms() - self.set_back_ms

    def true_ms(self) -> int:
        """Return the time of a clock that nobody sets."""
        return START_MS + int((self.now - 1000.0) * 1000)

    def note(self, who: str, what: str) -> None:
        """Add a line to the trace."""
        self.notes.append((self.now, who, what))
        self.hash(who, what)

    def hash(self, *parts: object) -> None:
        """Add something to the digest of the run, which a replay must reproduce."""
        self.digest.update(repr(parts).encode())

    def after(self, seconds: float, call: Callable[..., None], *arguments: Any) -> None:
        """Call a function later."""
        event = (self.now + seconds, next(self._numbers), call, arguments)
        heapq.heappush(self._events, event)

    def advance(
        self, deadline: float, is_over: Callable[[], bool] = lambda: False
    ) -> None:
        """Let everything happen until the deadline, or until it is over."""
        while not is_over():
            if not self._events or self._events[0][0] > deadline:
                if deadline == math.inf:
                    raise Stuck("nothing will ever happen any more")
                self._go_to(deadline)
                return
            at, _, call, arguments = heapq.heappop(self._events)
            self._go_to(at)
            call(*arguments)

    def _go_to(self, moment: float) -> None:
        self._stalled = 0 if moment > self.now else self._stalled + 1
        if self._stalled > MOST_EVENTS_AT_ONCE:
            raise Stuck("time stands still")
        if moment > 1000 + MOST_SECONDS:
            raise Stuck("the run does not end")
        if moment > self.now:
            self.now = moment
            self.digest.update(pack("d", moment))

    def start(self, actor: Coroutine[Any, Any, None]) -> "Bell":
        """Let an actor act; the bell rings when it has finished."""
        finished = Bell(self)

        def go_on(value: Any = None) -> None:
            try:
                suspend = actor.send(value)
            except StopIteration:
                finished.ring()
            else:
                suspend(go_on)

        self.after(0, go_on)
        return finished

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await _Suspended(lambda resume: self.after(seconds, resume, None))


class Bell:
    """Wakes up the actors that wait for it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._waiting: list[Resume] = []
        self.has_rung = False

    def ring(self) -> None:
        """Wake up all that wait."""
        self.has_rung = True
        waiting, self._waiting = self._waiting, []
        for resume in waiting:
            self._world.after(0, resume, True)

    async def wait(self, seconds: float) -> bool:
        """Wait for the next ring; return False if there was none in time."""

        def suspend(resume: Resume) -> None:
            once = partial(_once, [resume])
            self._waiting.append(once)
            self._world.after(seconds, once, False)

        return await _Suspended(suspend)

    async def until_rung(self) -> None:
        """Wait unless it has rung already."""
        while not self.has_rung:
            await self.wait(3600)


def _once(resume: list[Resume], value: Any) -> None:
    if resume:
        resume.pop()(value)


class _Suspended:
    """An actor that waits; its function is told how to resume it."""

    def __init__(self, suspend: Callable[[Resume], None]) -> None:
        self._suspend = suspend

    def __await__(self) -> Generator[Callable[[Resume], None], Any, Any]:
        return (yield self._suspend)
