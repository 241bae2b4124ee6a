"""Counters of one process, for as long as the real store is away."""

import threading

from limits import RateLimitItem

from petstore import clock
from petstore.clock import MS_PER_SECOND
from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally

MAX_WINDOWS = 200_000


class MemoryCounters:
    """Serves each subject this process's share of its limits."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._lock = threading.Lock()
        self._served: dict[tuple[str, int, int], int] = {}

    def take(self, claim: Claim) -> Tally:
        """Count a request in both windows or in neither; see `CounterStorage`."""
        with self._lock:
            before = self._tally(claim)
            if before.now_ms < claim.banned_until_ms or _is_used_up(claim, before):
                return before
            for item in claim.quota:
                self._count(_window(claim, item, before.now_ms))
            return self._tally(claim)._replace(is_granted=True)

    def look(self, claim: Claim) -> Tally:
        """The figures without counting; see `CounterStorage`."""
        with self._lock:
            return self._tally(claim)

    def history(self, subject: Subject, days: range) -> list[Day]:
        """Nothing: these counters live no longer than an outage."""
        return []

    def _tally(self, claim: Claim) -> Tally:
        now = clock.now_ms()
        minute, day = (
            # What the other processes may serve counts as served.
            item.amount - self._share(item) + self._served.get(window, 0)
            for item in claim.quota
            for window in [_window(claim, item, now)]
        )
        return Tally(False, minute, day, now)

    def _share(self, item: RateLimitItem) -> int:
        return max(1, item.amount // self._workers)

    def _count(self, window: tuple[str, int, int]) -> None:
        self._served[window] = self._served.pop(window, 0) + 1
        if len(self._served) > MAX_WINDOWS:
            del self._served[next(iter(self._served))]


def _window(claim: Claim, item: RateLimitItem, now_ms: int) -> tuple[str, int, int]:
    seconds = item.get_expiry()
    return claim.subject.name, seconds, now_ms // (seconds * MS_PER_SECOND)


def _is_used_up(claim: Claim, tally: Tally) -> bool:
    minute, day = claim.quota
    return tally.minute_served >= minute.amount or tally.day_served >= day.amount
