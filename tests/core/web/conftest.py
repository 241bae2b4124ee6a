"""A Redis server for the counters, which a test may stop."""

import pytest

from tests.harness.clocks import Clock
from tests.harness.clusters import Server


@pytest.fixture
def redis(environ: dict[str, str], clock: Clock, redis: Server) -> Server:
    """A Redis server for the counters; request it before the application."""
    environ["REDIS_URL"] = redis.url
    return redis
