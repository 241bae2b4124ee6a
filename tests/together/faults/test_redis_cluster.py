"""Tests for counters in a Redis Cluster, including the loss of a node."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.bursts import burst
from tests.harness.clusters import Cluster, cluster
from tests.harness.load import countdown, load
from tests.harness.services import Service, issue_key
from tests.harness.waiting import wait_until
from tests.together.faults.conftest import Serve

WORKERS = 2  # of the service
BURST = 120  # redis-py opens 100 connections to a node unless told otherwise


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path) as nodes:
        yield nodes


@pytest.fixture
def service(serve: Serve, nodes: Cluster) -> Service:
    return serve(REDIS_URL=nodes.url, WEB_CONCURRENCY=str(WORKERS))


@pytest.fixture
def keys(service: Service) -> list[str]:
    """Keys of projects whose counters are on all nodes."""
    return [issue_key(service.gunicorn.environ) for _ in range(6)]


def test_exactly_the_limit_is_served(service: Service):
    environ = service.gunicorn.environ
    assert burst(random.Random(0), environ, [service.url], BURST) == []
    assert not service.events("counters_lost")


def test_lost_node_is_an_outage(service: Service, nodes: Cluster, keys: list[str]):
    with load(service.url, keys, pause_seconds=0.02) as clients:
        lost = nodes.nodes[1]
        lost.kill()
        wait_until(lambda: service.counters == "degraded")
        lost.start()
        wait_until(lambda: service.events("counters_restored"))
        nodes.wait_until_whole()
        # One worker may return to the store later than the other.
        for key in keys:
            wait_until(lambda key=key: is_countdown(clients.left_from_now(key, 20)))
    assert clients.statuses() == {200}
    lost, restored = map(service.events, ("counters_lost", "counters_restored"))
    # Each worker logs it, and again where a node that joins is away once more.
    assert 1 <= len(lost) <= len(restored) + WORKERS


def is_countdown(left: list[int]) -> bool:
    return left == countdown(left)
