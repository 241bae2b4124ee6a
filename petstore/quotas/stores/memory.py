"""Counters in one process, used while the counter store is away."""

import threading
from collections import Counter

from petstore import clock, timeouts
from petstore.clock import MS_PER_DAY, MS_PER_MINUTE
from petstore.quotas.decisions import Counts, Decision, Hit

Window = tuple[str, int, int]  # the subject, the length, and how many came before


class MemoryCounters:
    """Grants each subject the share of its limits that belongs to this process."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._lock = threading.Lock()
        self._served: Counter[Window] = Counter()

    def count(self, hit: Hit) -> Counts:
        """Count a request in both windows, or in neither."""
        with self._lock:
            counts = self._counts(hit)
            decision = Decision.of(hit.quota, counts, hit.banned_until_ms)
            is_used_up = not decision.tightest.remaining
            if hit.is_refused or decision.is_banned or is_used_up:
                return counts
            self._make_room(counts.now_ms)
            self._served.update(_windows(hit, counts.now_ms))
            return counts._replace(
                is_granted=True,
                minute_served=counts.minute_served + 1,
                day_served=counts.day_served + 1,
            )

    def peek(self, hit: Hit) -> Counts:
        """Return the figures without counting."""
        with self._lock:
            return self._counts(hit)

    def _counts(self, hit: Hit) -> Counts:
        now_ms = clock.now_ms()
        # The shares of the other processes count as served.
        minute, day = (
            limit - max(1, limit // self._workers) + self._served[window]
            for limit, window in zip(hit.quota, _windows(hit, now_ms), strict=True)
        )
        return Counts(False, minute, day, now_ms)

    def _make_room(self, now_ms: int) -> None:
        """Forget the windows that have ended, or all if most of them have not."""
        most = timeouts.LIMITS.outage_windows
        if len(self._served) < most:
            return
        for window in list(self._served):
            _, length_ms, before = window
            if before < now_ms // length_ms:
                del self._served[window]
        # Otherwise a few new ones would take as long again.
        if len(self._served) > most // 2:
            self._served.clear()


def _windows(hit: Hit, now_ms: int) -> list[Window]:
    lengths_ms = (MS_PER_MINUTE, MS_PER_DAY)
    return [(hit.subject.name, each, now_ms // each) for each in lengths_ms]
