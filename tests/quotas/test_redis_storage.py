"""The storage for one Redis: its connections, and what it takes for an outage."""

import time
from collections.abc import Callable

import pytest
import redis

from petstore.quotas.limiter import STRANGERS
from petstore.quotas.redis import redis_storage
from petstore.quotas.strategy import Hit
from petstore.timeouts import Limits
from tests.harness.clusters import Server

HITS = [Hit("somebody", STRANGERS)]


def test_hits_share_a_connection_and_errors_of_the_server_are_outages(redis_url: str):
    storage = redis_storage(redis_url)
    with redis.from_url(redis_url) as server:
        before = server.info()["total_connections_received"]
        assert [storage.count(HITS).used[0] for _ in range(3)] == [1, 2, 3]
        assert server.info()["total_connections_received"] == before + 1
        server.script_flush()
        assert storage.count(HITS).used[0] == 4
        server.config_set("maxmemory", 1)
        try:
            with pytest.raises(storage.base_exceptions, match="OOM"):
                storage.count(HITS)
        finally:
            server.config_set("maxmemory", 0)
        assert storage.count(HITS).is_granted


def test_server_that_does_not_answer_is_given_up_in_a_quarter_of_a_second(
    redis: Server, set_limits: Callable[..., None]
):
    set_limits(redis_seconds=Limits().redis_seconds)
    storage = redis_storage(redis.url)
    storage.count(HITS)
    redis.hang()
    for _ in range(2):  # on a connection that there is, and on a new one
        began = time.monotonic()
        with pytest.raises(storage.base_exceptions):
            storage.count(HITS)
        assert 0.15 < time.monotonic() - began < 0.25
