"""Counters in one process, used while the counter store is away."""

import threading
from functools import cached_property

from limits import RateLimitItem
from limits.storage import MemoryStorage

from petstore import clock
from petstore.clock import MS_PER_SECOND
from petstore.quotas.decisions import Counts, Decision, Hit

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
        """Count a request in both windows or in neither; see `CounterStorage`."""
        with self._lock:
            counts = self._counts(hit)
            decision = Decision.of(hit.quota, counts, hit.banned_until_ms)
            if decision.is_banned or not decision.tightest.remaining:
                return counts
            for limit in hit.quota.limits:
                self._increment(hit, limit, counts.now_ms)
            return self._counts(hit)._replace(is_granted=True)

    def peek(self, hit: Hit) -> Counts:
        """Return the figures without counting; see `CounterStorage`."""
        with self._lock:
            return self._counts(hit)

    def _counts(self, hit: Hit) -> Counts:
        now_ms = clock.now_ms()
        served = [self._served(hit, limit, now_ms) for limit in hit.quota.limits]
        return Counts._make((False, *served, now_ms, 0))

    def _served(self, hit: Hit, limit: RateLimitItem, now_ms: int) -> int:
        # The shares of the other processes count as served.
        share = max(1, limit.amount // self._workers)
        return limit.amount - share + self._storage.get(_key(hit, limit, now_ms))

    def _increment(self, hit: Hit, limit: RateLimitItem, now_ms: int) -> None:
        is_new = self._storage.incr(_key(hit, limit, now_ms), limit.get_expiry()) == 1
        self._windows += is_new
        if self._windows > MAX_WINDOWS:  # strangers with many addresses
            self._storage.reset()
            self._windows = 0


def _key(hit: Hit, limit: RateLimitItem, now_ms: int) -> str:
    # A window of limits begins with its first hit, so the key names the aligned one.
    seconds = limit.get_expiry()
    return f"{hit.subject.name}:{seconds}:{now_ms // (seconds * MS_PER_SECOND)}"
