"""Tests for counters in Redis with Sentinel, including a failover."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import Serve
from tests.faults.counting import countdown, left_from_now
from tests.harness.load import load
from tests.harness.sentinels import Watched, watched
from tests.harness.servers import Gunicorn
from tests.harness.waiting import wait_until

HUNG_SECONDS = 2


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Watched]:
    with watched(tmp_path) as redis:
        yield redis


@pytest.fixture
def service(serve: Serve, redis: Watched) -> Gunicorn:
    return serve(REDIS_URL=redis.url, WEB_CONCURRENCY="1")


def counted(redis: Watched, project: int) -> int:
    """Return the number of a project's served requests according to the replica."""
    client = redis.replica.client
    return sum(
        int(client.hget(key, "served"))
        for key in client.keys(f"petstore:{{project:{project}}}:*")
        if ":key:" not in key
    )


def test_no_request_fails_during_failover(
    service: Gunicorn, redis: Watched, issue: Callable
):
    project, key = issue()
    with load(service.url, [key]) as clients:
        clients.run(0.2)
        wait_until(lambda: counted(redis, project) > 0)  # as the replica knows
        redis.master.kill()
        before = counted(redis, project)
        wait_until(lambda: counted(redis, project) > before)
        wait_until(lambda: "counters_restored" in service.log.read_text())
        left = left_from_now(clients, key)
    assert clients.statuses() == {200}
    assert left == countdown(left)
    assert left[0] > 10**6 - 10**5  # the count was not reset
    log = service.log.read_text()
    assert log.count("counters_lost") == log.count("counters_restored") == 1


def test_hung_master_and_sentinel_do_not_delay_requests(
    service: Gunicorn, redis: Watched, issue: Callable
):
    _, key = issue()
    with load(service.url, [key], pause_seconds=0.05) as clients:
        redis.master.hang()
        clients.run(HUNG_SECONDS)
        redis.sentinel.hang()
        clients.run(HUNG_SECONDS)
    assert clients.statuses() == {200}
    assert clients.slowest() < HUNG_SECONDS
