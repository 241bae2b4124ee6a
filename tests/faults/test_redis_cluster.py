"""Tests for counters in a Redis Cluster, including the loss of a node."""

from collections.abc import Callable, Iterator

import pytest

from tests.faults.conftest import Serve
from tests.faults.counting import (
    countdown,
    counters_of,
    events,
    get,
    left_from_now,
    wait_for,
)
from tests.harness.clusters import Cluster, cluster
from tests.harness.crowds import send_at_once, served_by_minute
from tests.harness.load import load
from tests.harness.servers import PATIENT, Gunicorn
from tests.harness.waiting import wait_until

CLIENTS = 24
LIMIT = 20
BURST = 120  # redis-py opens 100 connections to a node unless told otherwise
HUNG_SECONDS = 2


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
def service(serve: Serve, whole: Cluster) -> Gunicorn:
    return serve(REDIS_URL=whole.url, **PATIENT)


def test_two_hosts_serve_exactly_the_limit(
    serve: Serve, whole: Cluster, issue: Callable
):
    urls = [serve(REDIS_URL=whole.url, **PATIENT).url for _ in range(2)]
    urls *= CLIENTS // 2
    for _ in range(3):
        _, key = issue(per_minute=LIMIT)
        for sent, served in served_by_minute(send_at_once(urls, key)):
            assert served == min(sent, LIMIT)


def test_burst_of_hits_is_counted_exactly(
    serve: Serve, whole: Cluster, issue: Callable
):
    urls = [serve(REDIS_URL=whole.url, WEB_CONCURRENCY="1", **PATIENT).url] * BURST
    _, key = issue(per_minute=LIMIT)
    for sent, served in served_by_minute(send_at_once(urls, key)):
        assert served == min(sent, LIMIT)


def test_lost_node_is_an_outage_of_the_store_until_it_returns(
    service: Gunicorn, whole: Cluster, issue: Callable
):
    keys = [issue()[1] for _ in range(6)]  # on all nodes
    with load(service.url, keys, pause_seconds=0.02) as clients:
        for number, node in enumerate(whole.nodes, start=1):
            node.kill()
            wait_until(lambda: counters_of(service) == "degraded")
            node.start()
            wait_for(service, "counters_restored", number)
            whole.wait_until_whole()
        clients.run(0.5)
        for key in keys:
            left = left_from_now(clients, key)
            assert left == countdown(left)
    assert clients.statuses() == {200}
    assert len(events(service, "counters_lost")) == len(whole.nodes)


def test_hung_node_does_not_delay_requests(
    serve: Serve, whole: Cluster, issue: Callable
):
    service = serve(REDIS_URL=whole.url)
    keys = [issue()[1] for _ in range(6)]
    with load(service.url, keys, pause_seconds=0.05) as clients:
        clients.run(0.3)
        whole.nodes[1].hang()
        clients.run(HUNG_SECONDS)
        whole.nodes[1].go_on()
    assert clients.statuses() == {200}
    assert clients.slowest() < HUNG_SECONDS


def test_service_starts_while_cluster_is_down(
    serve: Serve, whole: Cluster, issue: Callable
):
    _, key = issue()
    for node in whole.nodes:
        node.kill()
    service = serve(REDIS_URL=whole.url)
    assert get(service, key).status == 200
    for node in whole.nodes:
        node.start()
    whole.wait_until_whole()
    wait_until(lambda: counters_of(service) == "ok")
    assert "Traceback" not in service.log.read_text()


def test_counts_are_kept_when_a_slot_migrates(
    service: Gunicorn, whole: Cluster, issue: Callable
):
    project, key = issue()
    with load(service.url, [key]) as clients:
        clients.run(0.2)
        with whole.moving(f"project:{project}"):
            clients.run(0.3)
        clients.run(0.3)
    left = clients.left(key)
    assert left == countdown(left)
