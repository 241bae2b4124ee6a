"""Counters in one process, used while the counter store is away."""

import threading

from limits import RateLimitItem

from petstore import clock
from petstore.clock import MS_PER_SECOND
from petstore.quotas.windows import Claim, Tally

MAX_WINDOWS = 200_000

_Key = tuple[str, int, int]  # subject, length of the window in seconds, its number


class MemoryCounters:
    """Grants each subject the share of its limits that belongs to this process."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._lock = threading.Lock()
        self._served: dict[_Key, int] = {}

    def take(self, claim: Claim) -> Tally:
        """Count a request in all windows or in none; see `CounterStorage`."""
        with self._lock:
            before = self._tally(claim)
            if before.now_ms < claim.banned_until_ms or _is_used_up(claim, before):
                return before
            for item in claim.quota:
                self._count(_key(claim, item, before.now_ms))
            return self._tally(claim)._replace(is_granted=True)

    def peek(self, claim: Claim) -> Tally:
        """Return the figures without counting; see `CounterStorage`."""
        with self._lock:
            return self._tally(claim)

    def _tally(self, claim: Claim) -> Tally:
        now = clock.now_ms()
        # The shares of the other processes count as served.
        served = [
            item.amount - self._share(item) + self._served.get(key, 0)
            for item in claim.quota
            for key in [_key(claim, item, now)]
        ]
        return Tally(False, tuple(served), now)

    def _share(self, item: RateLimitItem) -> int:
        return max(1, item.amount // self._workers)

    def _count(self, key: _Key) -> None:
        self._served[key] = self._served.pop(key, 0) + 1
        if len(self._served) > MAX_WINDOWS:
            del self._served[next(iter(self._served))]


def _key(claim: Claim, item: RateLimitItem, now_ms: int) -> _Key:
    seconds = item.get_expiry()
    return claim.subject.name, seconds, now_ms // (seconds * MS_PER_SECOND)


def _is_used_up(claim: Claim, tally: Tally) -> bool:
    pairs = zip(claim.quota, tally.served, strict=True)
    return any(served >= item.amount for item, served in pairs)
