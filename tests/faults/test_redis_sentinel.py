"""Tests for counters in Redis with Sentinel, including a failover."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clusters import until
from tests.faults.conftest import Serve
from tests.faults.counting import countdown
from tests.load import load
from tests.sentinels import Watched, watched
from tests.servers import Gunicorn

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


def test_counts_are_replicated(service: Gunicorn, redis: Watched, issue: Callable):
    project, key = issue()
    with load(service.url, [key]) as clients:
        clients.run(0.2)
    assert clients.statuses() == {200}
    until(lambda: counted(redis, project) == len(clients.answers))


def test_no_request_fails_during_failover(
    service: Gunicorn, redis: Watched, issue: Callable
):
    project, key = issue()
    with load(service.url, [key]) as clients:
        clients.run(0.2)
        redis.master.kill()
        before = counted(redis, project)
        until(lambda: counted(redis, project) > before)
        clients.run(0.2)
    assert clients.statuses() == {200}
    left = clients.left(key)[-10:]
    assert left == countdown(left)
    assert left[0] > 10**6 - 10**5  # the count was not reset


def test_hung_master_and_sentinel_do_not_delay_requests(
    service: Gunicorn, redis: Watched, issue: Callable
):
    _, key = issue()
    with load(service.url, [key]) as clients:
        redis.master.hang()
        clients.run(HUNG_SECONDS)
        redis.sentinel.hang()
        clients.run(HUNG_SECONDS)
    assert clients.statuses() == {200}
    assert clients.slowest() < HUNG_SECONDS


def test_an_outage_is_logged_once(service: Gunicorn, redis: Watched, issue: Callable):
    project, key = issue()
    with load(service.url, [key]) as clients:
        clients.run(0.2)
        redis.master.kill()
        before = counted(redis, project)
        until(lambda: counted(redis, project) > before)
        until(lambda: "counters_regained" in service.log.read_text())
        clients.run(0.5)
    log = service.log.read_text()
    assert log.count("counters_lost") == log.count("counters_regained") == 1
