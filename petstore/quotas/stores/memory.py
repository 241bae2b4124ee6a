"""Counters in one process, used while the counter store is away."""

import threading
from functools import cached_property

from limits.storage import MemoryStorage

from petstore import clock
from petstore.clock import MS_PER_DAY, MS_PER_MINUTE, MS_PER_SECOND
from petstore.quotas.decisions import Counts, Decision, Hit

LENGTHS_MS = (MS_PER_MINUTE, MS_PER_DAY)  # of the windows
MAX_WINDOWS = 200_000


class MemoryCounters:
    """Grants each subject the share of its limits that belongs to this process."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._lock = threading.Lock()
        self._windows = 0

    @cached_property
    def _storage(self) -> MemoryStorage:
        # Not before an outage, since it starts a thread.
        return MemoryStorage()

    def count(self, hit: Hit) -> Counts:
        """Count a request in both windows, or in neither."""
        with self._lock:
            counts = self._counts(hit)
            decision = Decision.of(hit.quota, counts, hit.banned_until_ms)
            if decision.is_banned or not decision.tightest.remaining:
                return counts
            for key, length_ms in zip(
                _keys(hit, counts.now_ms), LENGTHS_MS, strict=True
            ):
                self._increment(key, length_ms // MS_PER_SECOND)
            return self._counts(hit)._replace(is_granted=True)

    def peek(self, hit: Hit) -> Counts:
        """Return the figures without counting."""
        with self._lock:
            return self._counts(hit)

    def _counts(self, hit: Hit) -> Counts:
        now_ms = clock.now_ms()
        windows = zip(hit.quota, _keys(hit, now_ms), strict=True)
        minute, day = (self._served(limit, key) for limit, key in windows)
        return Counts(False, minute, day, now_ms)

    def _served(self, limit: int, key: str) -> int:
        # The shares of the other processes count as served.
        return limit - max(1, limit // self._workers) + self._storage.get(key)

    def _increment(self, key: str, seconds: int) -> None:
        self._windows += self._storage.incr(key, seconds) == 1
        if self._windows > MAX_WINDOWS:  # strangers with many addresses
            self._storage.reset()
            self._windows = 0


def _keys(hit: Hit, now_ms: int) -> list[str]:
    # A window of limits begins with its first hit, so the key names the aligned one.
    return [f"{hit.subject.name}:{each}:{now_ms // each}" for each in LENGTHS_MS]
