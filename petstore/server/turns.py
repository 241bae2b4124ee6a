"""Starts requests in turn, a few in each iteration of the event loop."""

import asyncio
from collections import deque
from collections.abc import Callable

from petstore import timeouts


class Turns:
    """Decides when the requests of a worker start.

    If all requests of a crowd started in one iteration, everybody else would wait that
    long for a start, and then for each answer of a store. Once more requests are there
    than may start together, only a few start in each iteration, until none is left.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._started = 0  # in this iteration
        self._is_due = False  # whether `_begin_iteration` will be called
        # What waits of each sender; the one whose turn is next comes first.
        self._waiting: dict[str, deque[Callable[[], None]]] = {}

    def has_room(self) -> bool:
        """Return whether a request may start at once, and count it."""
        self._started += 1
        if not self._is_due:
            self._count_anew_soon()
        return self._started <= timeouts.LIMITS.starts and not self._waiting

    def wait(self, sender: str, start: Callable[[], None]) -> None:
        """Call the function in one of the next iterations, where there was no room."""
        self._waiting.setdefault(sender, deque()).append(start)

    def _count_anew_soon(self) -> None:
        self._is_due = True
        self._loop.call_soon(self._begin_iteration)

    def _begin_iteration(self) -> None:
        self._started, self._is_due = 0, False
        while self._waiting and self._started < timeouts.LIMITS.crowded_starts:
            self._started += 1
            sender = next(iter(self._waiting))
            starts = self._waiting.pop(sender)
            start = starts.popleft()
            if starts:
                self._waiting[sender] = starts  # its next turn comes last
            start()
        if self._waiting:
            self._count_anew_soon()
