"""Counts in this process while the counter storage is away.

An outage is logged once by each worker. From time to time the storage is tried again,
by the requests that have come by then, and it is used as soon as it answers.
"""

import threading
from collections.abc import Sequence

import peewee
from limits.storage import MemoryStorage, Storage
from redis.exceptions import RedisClusterException, RedisError

from petstore import clock, timeouts
from petstore.clock import MS_PER_SECOND
from petstore.events import emit
from petstore.models import RuleError
from petstore.models.secrets import Secret
from petstore.quotas.database import DatabaseStorage
from petstore.quotas.redis import redis_storage
from petstore.quotas.strategy import (
    NO_BAN,
    AlignedWindowRateLimiter,
    AlignedWindowSupport,
    Ban,
    Counts,
    Hit,
)
from petstore.storage import Busy, counters, db

ID_LENGTH = 12  # of 64 different characters


class CountersLocked(RuleError):
    """Others keep a counter locked, so that the request cannot be counted."""

    code = "service_unavailable"
    text = "The request could not be counted; please try again."


class Counters:
    """The counter storage, replaced by counters of this process during an outage."""

    def __init__(self, redis_url: str | None, workers: int) -> None:
        self._redis_url = redis_url
        self._workers = workers
        self._lock, self._own_lock = threading.Lock(), threading.Lock()
        self._shared: AlignedWindowRateLimiter | None = None
        self._share: AlignedWindowRateLimiter | None = None  # of this process
        self.is_down = False  # whether requests are counted here
        self.answers = True  # whether the storage did when it was last asked
        self._failed: Sequence[Hit] = ()  # what could not be counted
        self._retry_at = 0.0

    def count(self, hits: Sequence[Hit], cost: int = 1, ban: Ban = NO_BAN) -> Counts:
        """Count a request in all windows of all hits, or in none.

        Raises `CountersLocked`.
        """
        request = (hits, cost, ban)
        if self.is_down and clock.monotonic() < self._retry_at:
            return self._own.count(*request)
        shared = self._shared
        try:
            shared = shared or self._open()
            if self.is_down:
                # Of a cluster another node may be away, and this one not.
                shared.count(self._failed, cost=0)
            counts = shared.count(*request)
        except Busy as error:
            raise CountersLocked from error
        except Exception as error:
            if not _is_outage(error):
                raise
            # Another one may have been opened since, which answers others.
            if self._shared in (None, shared):
                self._begin_outage(hits, error)
            return self._own.count(*request)
        self.answers = True
        if self.is_down and cost:  # one that is full can be looked at, too
            self.is_down = False
            emit("counters_restored")
        return counts

    def _begin_outage(self, hits: Sequence[Hit], reason: Exception) -> None:
        # What was known of servers and connections may be wrong by now.
        self._shared, self.answers = None, False
        self._retry_at = clock.monotonic() + timeouts.LIMITS.retry_store_seconds
        if self.is_down:  # another request was faster
            return
        self.is_down, self._failed = True, hits
        emit("counters_lost", reason=str(reason))

    def _open(self) -> AlignedWindowRateLimiter:
        with self._lock:
            if self._shared is None:
                self._shared = AlignedWindowRateLimiter(self._open_storage())
            return self._shared

    def _open_storage(self) -> Storage:
        """Return the storage: a cluster is asked, and names in Redis need the database.

        Several installations may share a Redis, so the database of each has an id. It
        is empty in databases from before there were ids.
        """
        if self._redis_url is None:
            return DatabaseStorage()
        installation = Secret.shared("installation")[:ID_LENGTH]
        return redis_storage(self._redis_url, f"petstore:{installation}".rstrip(":"))

    @property
    def _own(self) -> AlignedWindowRateLimiter:
        # limits starts a thread with it, and meanwhile another request may come here.
        with self._own_lock:
            if self._share is None:
                self._share = AlignedWindowRateLimiter(ShareStorage(self._workers))
            return self._share


class ShareStorage(MemoryStorage, AlignedWindowSupport):
    """limits' counters of one process: a subject has the share that belongs to it."""

    STORAGE_SCHEME = None  # type: ignore[assignment]  # no URL leads to it

    def __init__(self, workers: int) -> None:
        super().__init__()
        self._workers = workers
        self._lock = threading.Lock()

    def count(self, hits: Sequence[Hit], cost: int = 1, ban: Ban = NO_BAN) -> Counts:
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
            is_granted = now_ms >= ban.until_ms and all(
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
        """Forget all windows of a subject."""
        for window in [*self.storage]:
            if window.rsplit("/", 2)[0] == key:
                super().clear(window)


def _is_outage(error: Exception) -> bool:
    if isinstance(error, peewee.PeeweeException):
        for database in (db, counters):
            database.recover(error)
        return bool(counters.is_outage(error))
    return isinstance(error, (RedisError, RedisClusterException))
