"""Where requests are counted; importing a storage registers its URL scheme."""

from limits.storage import storage_from_string

from petstore.quotas.stores.database import DatabaseStorage
from petstore.quotas.stores.redis import RedisStorage
from petstore.quotas.stores.redis_cluster import RedisClusterStorage
from petstore.quotas.stores.redis_sentinel import RedisSentinelStorage
from petstore.quotas.stores.storage import CounterStorage

__all__ = [
    "CounterStorage",
    "DatabaseStorage",
    "RedisClusterStorage",
    "RedisSentinelStorage",
    "RedisStorage",
    "open_store",
]


def open_store(redis_url: str | None) -> CounterStorage:
    """The counter store of the settings: Redis, else the database's engine."""
    return storage_from_string(f"petstore+{redis_url or 'database://'}")
