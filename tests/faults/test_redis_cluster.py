"""Tests for counters in a Redis Cluster, including the loss of a node."""

from collections.abc import Iterator

import pytest

from tests.faults.conftest import Serve
from tests.harness.clusters import Cluster, cluster
from tests.harness.load import countdown, load
from tests.harness.services import Service, issue_key
from tests.harness.waiting import wait_until

WORKERS = 2  # of the service


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as nodes:
        yield nodes


@pytest.fixture
def whole(nodes: Cluster) -> Cluster:
    """The cluster, with all nodes up and empty."""
    for node in nodes.nodes:
        node.go_on()
    nodes.wait_until_whole()
    for node in nodes.nodes:
        node.client.flushall()
    return nodes


@pytest.fixture
def service(serve: Serve, whole: Cluster) -> Service:
    return serve(REDIS_URL=whole.url)


@pytest.fixture
def keys(service: Service) -> list[str]:
    """Keys of projects whose counters are on all nodes."""
    return [issue_key(service.gunicorn.environ) for _ in range(6)]


def test_lost_node_is_an_outage_of_the_store_until_it_returns(
    service: Service, whole: Cluster, keys: list[str]
):
    with load(service.url, keys, pause_seconds=0.02) as clients:
        for number, node in enumerate(whole.nodes, start=1):
            node.kill()
            wait_until(lambda: service.counters == "degraded")
            node.start()
            wait_until(lambda n=number: len(service.events("counters_restored")) >= n)
            whole.wait_until_whole()
        # One worker may return to the store later than the other.
        for key in keys:
            wait_until(lambda key=key: is_countdown(clients.left_from_now(key, 20)))
    assert clients.statuses() == {200}
    # Each worker logs it, and a node that joins again may be away once more.
    nodes = len(whole.nodes)
    assert nodes <= len(service.events("counters_lost")) <= 2 * nodes * WORKERS


def is_countdown(left: list[int]) -> bool:
    return left == countdown(left)
