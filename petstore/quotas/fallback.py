"""Counts in this process while the counter storage is away.

Each worker logs each cause of an outage once. From time to time, a request tries the
storage again. All requests use the storage as soon as it answers.
"""

import threading
from collections.abc import Sequence

import peewee
from limits.storage import MemoryStorage
from redis.exceptions import RedisClusterException, RedisError

from petstore import clock, timeouts
from petstore.events import emit
from petstore.models.secrets import Secret
from petstore.quotas.database import DatabaseStorage
from petstore.quotas.redis import redis_storage
from petstore.quotas.strategy import (
    NO_BAN,
    AlignedWindowRateLimiter,
    AlignedWindowStorage,
    Ban,
    Counts,
    Decision,
    Window,
)
from petstore.storage import Busy, counters, db

ID_LENGTH = 12  # of 64 different characters
COUNTERS_LOST = "counters_lost"


class FallbackRateLimiter(AlignedWindowRateLimiter):
    """The strategy on the counter storage, and in this process during an outage.

    An outage ends when the storage counts a hit: a storage that is full still answers
    looks. Each request is counted in one place only.
    """

    def __init__(self, redis_url: str | None, workers: int) -> None:
        super().__init__(DatabaseStorage())
        self._redis_url = redis_url
        self._is_open = redis_url is None
        self._lock = threading.Lock()
        self._own = AlignedWindowRateLimiter(ShareStorage(workers))
        self.is_down = False  # whether requests are counted here
        self._causes: set[str] = set()  # of this outage, which are logged
        # Whether the storage answered when it was last asked; None if it could not be
        # asked, since the data are away.
        self.answers: bool | None = True
        self._failed: Sequence[Window] = ()  # what could not be counted
        self._retry_at = 0.0

    def hit_all(
        self, windows: Sequence[Window], cost: int = 1, ban: Ban = NO_BAN
    ) -> Decision:
        """Consume the limits of all windows, or none; with a cost of 0, look.

        Raises `Busy` if others keep a counter locked. It may not be called in a
        transaction: on PostgreSQL, a full window would end that, too, and a count would
        be rolled back with it.
        """
        if db.in_transaction():
            raise RuntimeError("a limit is counted in a transaction")
        if self.is_down and clock.monotonic() < self._retry_at:
            return self._own.hit_all(windows, cost, ban)
        storage = self.storage
        try:
            if not self._is_open:
                storage = self.open()
            if self.is_down:
                # In a cluster, the node that is away may be another one.
                super().hit_all(self._failed, cost=0)
            decision = super().hit_all(windows, cost, ban)
        except Busy:
            raise
        except Exception as error:
            if not _is_outage(error):
                raise
            # If not, another request has opened a storage since, which answers.
            if self.storage is storage:
                self._begin_outage(windows, error)
            return self._own.hit_all(windows, cost, ban)
        self.answers = True
        if self.is_down and cost:
            self.is_down = False
            if COUNTERS_LOST in self._causes:
                emit("counters_restored")
            self._causes.clear()
        return decision

    def _begin_outage(self, windows: Sequence[Window], reason: Exception) -> None:
        # Servers and connections may have changed.
        self._is_open = self._redis_url is None
        needs_database = self._redis_url is not None or counters.obj is db.obj
        is_database_away = needs_database and isinstance(reason, peewee.PeeweeException)
        self.answers = None if is_database_away else False
        self._retry_at = clock.monotonic() + timeouts.LIMITS.retry_store_seconds
        if not self.is_down:  # otherwise another request was faster
            self.is_down, self._failed = True, windows
        cause = "database_error" if is_database_away else COUNTERS_LOST
        if cause not in self._causes:
            self._causes.add(cause)
            emit(cause, reason=str(reason))

    def open(self) -> AlignedWindowStorage:
        """Return the storage; open Redis if it is not open.

        That may fail: a cluster is asked for its nodes, and the keys begin with an id
        from the database, since several installations may share a Redis. Databases of
        old releases have an empty id.
        """
        with self._lock:
            if self._redis_url and not self._is_open:
                prefix = f"petstore:{Secret.shared('installation')[:ID_LENGTH]}"
                self.storage = redis_storage(self._redis_url, prefix.rstrip(":"))
                self._is_open = True
            return self.storage


class ShareStorage(MemoryStorage, AlignedWindowStorage):
    """The memory storage of limits, with the share of each limit for one process."""

    def __init__(self, workers: int) -> None:
        super().__init__()
        self._workers = workers
        self._lock = threading.Lock()

    def acquire_windows(
        self, windows: Sequence[Window], amount: int = 1, ban: Ban = NO_BAN
    ) -> Counts:
        now_ms = clock.now_ms()
        ends = [window.end(now_ms) for window in windows]
        # Windows of limits begin with a hit. These have a key for each end.
        keys = [f"{w.key}/{end}" for w, end in zip(windows, ends, strict=True)]
        with self._lock:
            # The shares of the other processes count as used.
            used = [
                w.limit - max(1, w.limit // self._workers) + self.get(key)
                for w, key in zip(windows, keys, strict=True)
            ]
            rooms = [w.limit - number for w, number in zip(windows, used, strict=True)]
            is_granted = now_ms >= ban.until_ms and 0 < amount <= min(rooms)
            if is_granted and len(self.storage) >= timeouts.LIMITS.outage_windows:
                self.reset()
            for window, key in zip(windows, keys, strict=True) if is_granted else ():
                self.incr(key, window.seconds, amount)
        counted = [number + amount * is_granted for number in used]
        return Counts(is_granted, now_ms, 0, list(zip(counted, ends, strict=True)))


def _is_outage(error: Exception) -> bool:
    if isinstance(error, peewee.PeeweeException):
        for database in (db, counters):
            database.recover(error)
        return bool(counters.is_outage(error))
    return isinstance(error, (RedisError, RedisClusterException))
