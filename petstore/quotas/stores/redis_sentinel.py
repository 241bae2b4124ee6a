"""Counters in a Redis that sentinels watch: they tell which server is the master."""

import limits.storage

from petstore.quotas.stores.redis import (
    NO_RETRY,
    TIMEOUT_SECONDS,
    RedisCounters,
    credentials,
)
from petstore.quotas.stores.storage import CounterStorage


class RedisSentinelStorage(
    RedisCounters, limits.storage.RedisSentinelStorage, CounterStorage
):
    """Exact over all hosts, until sentinels make another server the master."""

    STORAGE_SCHEME = ["petstore+redis+sentinel"]

    def __init__(self, uri: str) -> None:
        # All of them together may take as long as one server.
        patience = TIMEOUT_SECONDS / (uri.count(",") + 1)
        super().__init__(
            uri,
            use_replicas=False,
            sentinel_kwargs={
                "socket_timeout": patience,
                "socket_connect_timeout": patience,
                "retry": NO_RETRY,
            },
            **credentials(uri),
        )
