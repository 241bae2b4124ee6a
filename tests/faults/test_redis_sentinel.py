"""Tests for counters in Redis with Sentinel, including a failover."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import Serve
from tests.faults.sentinels import Watched, watched
from tests.harness.load import countdown, load
from tests.harness.services import Service
from tests.harness.waiting import wait_until


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Watched]:
    with watched(tmp_path) as redis:
        yield redis


@pytest.fixture
def service(serve: Serve, redis: Watched) -> Service:
    return serve(REDIS_URL=redis.url)


def counted(redis: Watched) -> int:
    """Return the number of served requests of projects, as the replica knows it."""
    client = redis.replica.client
    keys = client.keys("petstore:*{project:*}")
    return sum(int(client.hget(key, "86400:used")) for key in keys)


def test_no_request_fails_during_failover(service: Service, redis: Watched):
    with load(service.url, [service.key]) as clients:
        wait_until(lambda: counted(redis) > 0)
        redis.master.kill()
        before = counted(redis)
        wait_until(lambda: counted(redis) > before)
        wait_until(lambda: service.events("counters_restored"))
        left = clients.left_from_now(service.key)
    assert clients.statuses() == {200}
    assert left == countdown(left)
    assert left[0] > 10**9 - 10**5  # the count was not reset
    names = [line["event"] for line in service.events("counters_")]
    assert names == ["counters_lost", "counters_restored"]
