"""Requests that wait for somebody else let others go on, all in one thread.

Each runs in a greenlet. Where it has to wait for a store, it goes back to the loop of
its worker, which takes up others meanwhile and returns to it with what has come.
Threads would take Python's lock from each other at every call to the system.
"""

import os
import select
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from math import inf
from typing import Any

from greenlet import getcurrent, greenlet

# How late a wait may be given up, at most.
LOOK_SECONDS = 0.005
HELPERS = 32


class _Fiber(greenlet):
    fibers: "Fibers"
    ends_at = inf


class Fibers:
    """What a worker has in progress."""

    def __init__(self, poller: "select.epoll", most: int) -> None:
        self._poller = poller
        self._due: deque[tuple[Callable[..., None], tuple]] = deque()
        self._waiting: dict[int, _Fiber] = {}
        self._look_at = 0.0
        # They are kept: a new one costs a call to the system for its stack.
        self._free = [_Fiber(self._work) for _ in range(most)]
        for fiber in self._free:
            fiber.fibers = self

    def __len__(self) -> int:
        return len(self._waiting)

    def start(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call the function, as soon as there are not too many in progress."""
        self._due.append((function, arguments))
        if self._free:
            self._free.pop().switch()

    def go_on(self, descriptor: int, events: int) -> bool:
        """Resume who waits for the descriptor; False where nobody does."""
        fiber = self._waiting.pop(descriptor, None)
        if fiber is None:
            return False
        fiber.switch(events)
        return True

    def give_up(self) -> None:
        """Resume those for whom nothing has come in time."""
        now = time.monotonic()
        if now < self._look_at:
            return
        self._look_at = now + LOOK_SECONDS
        for descriptor, fiber in list(self._waiting.items()):
            if now >= fiber.ends_at:
                self.go_on(descriptor, 0)

    def wait(self, fiber: _Fiber, descriptor: int, events: int, seconds: float) -> int:
        """Let others go on; to be called by the fiber itself."""
        fiber.ends_at = time.monotonic() + seconds
        self._waiting[descriptor] = fiber
        try:
            self._poller.modify(descriptor, events | select.EPOLLONESHOT)
        except FileNotFoundError:
            self._poller.register(descriptor, events | select.EPOLLONESHOT)
        # What came while the whole process stood still has come in time.
        return fiber.parent.switch() or _poll(descriptor, events, 0)

    def _work(self) -> None:
        present = getcurrent()
        while True:
            while self._due:
                function, arguments = self._due.popleft()
                function(*arguments)
            self._free.append(present)
            present.parent.switch()


def wait_for(descriptor: int, events: int, seconds: float = inf) -> int:
    """Wait until one of the events of `select.poll` happens; 0 where none does."""
    present = getcurrent()
    if isinstance(present, _Fiber):
        return present.fibers.wait(present, descriptor, events, seconds)
    return _poll(descriptor, events, None if seconds == inf else seconds * 1000)


def has_come(descriptor: int) -> bool:
    """Whether there is something to read, or the end, without waiting for it."""
    return bool(_poll(descriptor, select.POLLIN, 0))


def _poll(descriptor: int, events: int, milliseconds: float | None) -> int:
    poller = select.poll()
    poller.register(descriptor, events)
    found = poller.poll(milliseconds)
    return found[0][1] if found else 0


def elsewhere(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that blocks, where nobody else is blocked."""
    if not isinstance(getcurrent(), _Fiber):
        return function(*arguments)
    bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
    try:
        call = _helpers.submit(copy_context().run, function, *arguments)
        call.add_done_callback(lambda _: os.eventfd_write(bell, 1))
        while not has_come(bell):  # nor may it be closed before it has rung
            wait_for(bell, select.POLLIN)
    finally:
        os.close(bell)
    return call.result()


_helpers = ThreadPoolExecutor(HELPERS, thread_name_prefix="elsewhere")
