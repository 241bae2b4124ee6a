"""Where requests are counted: in Redis or in the database."""

from petstore.quotas.stores.database import DatabaseStorage
from petstore.quotas.stores.redis import RedisStorage
from petstore.quotas.stores.storage import CountersLocked, CounterStorage

__all__ = [
    "CounterStorage",
    "CountersLocked",
    "DatabaseStorage",
    "RedisStorage",
    "open_store",
]


def open_store(redis_url: str | None) -> CounterStorage:
    """Return the counter store: Redis at that URL, or else the database."""
    return RedisStorage(redis_url) if redis_url else DatabaseStorage()
