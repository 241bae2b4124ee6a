"""Tests for counters in a Redis Cluster, including the loss of a node."""

import time
from collections.abc import Callable, Iterator
from statistics import median

import pytest

from petstore.models.keys import Key
from tests.faults.conftest import Serve
from tests.harness.clusters import Cluster, cluster
from tests.harness.load import countdown, load
from tests.harness.services import Service, issue_key
from tests.harness.stage import opened
from tests.harness.waiting import wait_until

HIT_SECONDS = 2.0  # longer than a request takes on a busy machine
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
    return keys_on_all_nodes(service)


def keys_on_all_nodes(service: Service) -> list[str]:
    """Return keys of projects whose counters are on all nodes."""
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


def test_hung_node_does_not_delay_requests(
    serve: Serve, whole: Cluster, set_limits: Callable[..., None]
):
    set_limits(redis_seconds=HIT_SECONDS / 4)
    service = serve(REDIS_URL=whole.url)
    keys = keys_on_all_nodes(service)
    with load(service.url, keys, pause_seconds=0.05) as clients:
        clients.run(0.3)
        hung_at = time.monotonic()
        whole.nodes[1].hang()
        for key in keys:
            clients.left_from_now(key, 5)
    assert clients.statuses() == {200}
    for key in keys:  # those of the hung node, too
        answers = [each for each in clients.answers_to[key] if each.sent_at >= hung_at]
        assert median(answer.seconds for answer in answers) < HIT_SECONDS


def test_service_starts_while_cluster_is_down(serve: Serve, whole: Cluster):
    for node in whole.nodes:
        node.kill()
    service = serve(REDIS_URL=whole.url)
    assert service.send().status == 200
    for node in whole.nodes:
        node.start()
    whole.wait_until_whole()
    wait_until(lambda: service.counters == "ok")
    assert not service.gunicorn.tracebacks()


def test_counts_are_kept_when_a_slot_migrates(service: Service, whole: Cluster):
    with opened(service.gunicorn.environ["DATABASE_URL"]):
        project = Key.by_prefix(service.key[:16]).project_id
    with load(service.url, [service.key]) as clients:
        clients.run(0.2)
        with whole.moving(f"project:{project}"):
            clients.run(0.3)
        clients.run(0.3)
    left = clients.left(service.key)
    assert left == countdown(left)
