"""limits' counters in one process, used while the counter storage is away."""

import threading
from collections.abc import Sequence

from limits.storage import MemoryStorage

from petstore import clock, timeouts
from petstore.clock import MS_PER_SECOND
from petstore.quotas.strategy import AlignedWindowSupport, Counts, Hit


class ShareStorage(MemoryStorage, AlignedWindowSupport):
    """Grants each subject the share of its limits that belongs to this process."""

    STORAGE_SCHEME = None  # type: ignore[assignment]  # no URL leads to it

    def __init__(self, workers: int) -> None:
        super().__init__()
        self._workers = workers
        self._lock = threading.Lock()

    def count(
        self,
        hits: Sequence[Hit],
        cost: int = 1,
        banned_until_ms: int = 0,
        key_id: int | None = None,
    ) -> Counts:
        """Count a request in all windows of all hits, or in none; cost 0 only looks."""
        now_ms = clock.now_ms()
        windows = [
            (f"{hit.subject}/{seconds}/{now_ms // MS_PER_SECOND // seconds}", item)
            for hit in hits
            for item in hit.limits
            for seconds in [item.get_expiry()]
        ]
        with self._lock:
            # The shares of the other processes count as used.
            used = [
                item.amount - max(1, item.amount // self._workers) + self.get(key)
                for key, item in windows
            ]
            is_granted = now_ms >= banned_until_ms and all(
                number + cost <= item.amount
                for number, (_, item) in zip(used, windows, strict=True)
            )
            if not (cost and is_granted):
                return Counts(False, used, now_ms)
            if len(self.storage) >= timeouts.LIMITS.outage_windows:
                self.reset()
            for key, item in windows:
                self.incr(key, item.get_expiry(), cost)
            return Counts(True, [number + cost for number in used], now_ms)

    def clear(self, key: str) -> None:
        """Forget what was counted for a subject, in all its windows."""
        for window in [*self.storage]:
            if window.rsplit("/", 2)[0] == key:
                super().clear(window)
