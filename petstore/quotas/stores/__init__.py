"""Where requests are counted."""

from petstore.quotas.stores.database import DatabaseStorage
from petstore.quotas.stores.redis import RedisStorage
from petstore.quotas.stores.storage import CounterStorage

__all__ = ["CounterStorage", "DatabaseStorage", "RedisStorage", "open_store"]


def open_store(redis_url: str | None) -> CounterStorage:
    """The counter store of the settings: Redis, else the database's engine."""
    return RedisStorage(redis_url) if redis_url else DatabaseStorage()
