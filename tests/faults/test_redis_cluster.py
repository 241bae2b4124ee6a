"""Tests for counters in a Redis Cluster, including the loss of a node."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from petstore.quotas.stores import redis_clients
from tests.clusters import (
    SLOTS,
    Cluster,
    Server,
    cluster,
    free_node_port,
    running,
    until,
)
from tests.crowds import ask_at_once, served_by_minute
from tests.faults.conftest import Serve
from tests.faults.counting import countdown, counters_of, events, get
from tests.load import load
from tests.servers import PATIENT, Gunicorn

CLIENTS = 24
LIMIT = 20
CLUSTER_OPTIONS = ("--cluster-enabled", "yes")
MOVES = 4
CONCURRENT = 100  # so many commands hinder each other while a slot migrates
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


@pytest.fixture
def keys(issue: Callable, whole: Cluster) -> dict[int, str]:
    """An API key of a project on each node, by the index of the node."""
    keys = {}
    while len(keys) < len(whole.nodes):
        project, key = issue()
        keys[whole.nodes.index(whole.node_of(f"project:{project}"))] = key
    return keys


def test_two_hosts_serve_exactly_the_limit(
    serve: Serve, whole: Cluster, issue: Callable
):
    urls = [serve(REDIS_URL=whole.url, **PATIENT).url for _ in range(2)]
    urls *= CLIENTS // 2
    for _ in range(3):
        _, key = issue(per_minute=LIMIT)
        for asked, served in served_by_minute(ask_at_once(urls, key)):
            assert served == min(asked, LIMIT)


def test_burst_of_hits_is_counted_exactly(
    serve: Serve, whole: Cluster, issue: Callable
):
    urls = [serve(REDIS_URL=whole.url, WEB_CONCURRENCY="1", **PATIENT).url] * BURST
    _, key = issue(per_minute=LIMIT)
    for asked, served in served_by_minute(ask_at_once(urls, key)):
        assert served == min(asked, LIMIT)


def test_lost_node_does_not_affect_counts_on_other_nodes(
    service: Gunicorn, whole: Cluster, keys: dict[int, str]
):
    with load(service.url, list(keys.values())) as clients:
        clients.run(0.5)
        whole.nodes[0].kill()
        clients.run(1.5)
        whole.nodes[0].start()
        clients.run(0.5)
    assert clients.statuses() == {200}
    for place in (1, 2):
        left = clients.left(keys[place])
        assert left == countdown(left)


def test_hung_node_does_not_delay_requests(
    serve: Serve, whole: Cluster, keys: dict[int, str]
):
    service = serve(REDIS_URL=whole.url)
    with load(service.url, list(keys.values())) as clients:
        clients.run(0.3)
        whole.nodes[1].hang()
        clients.run(HUNG_SECONDS)
        whole.nodes[1].go_on()
    assert clients.statuses() == {200}
    assert clients.slowest() < HUNG_SECONDS


def test_node_resumes_counting_after_restart(
    service: Gunicorn, whole: Cluster, keys: dict[int, str]
):
    with load(service.url, [keys[0]]) as clients:
        whole.nodes[0].kill()
        clients.run(0.8)
        whole.nodes[0].start()
        whole.wait_until_whole()
        until(lambda: events(service, "counters_regained"))
        until(lambda: counters_of(service) == "ok")
        clients.run(1)
        left = clients.left(keys[0])[-20:]
    assert left == countdown(left)


def test_outage_and_recovery_are_logged_once_per_host(
    service: Gunicorn, whole: Cluster, keys: dict[int, str]
):
    with load(service.url, list(keys.values())) as clients:
        clients.run(0.3)
        whole.nodes[2].kill()
        clients.run(1.5)
        assert counters_of(service) == "degraded"
        whole.nodes[2].start()
        until(lambda: events(service, "counters_regained"))
        clients.run(1)
    for name in ("counters_lost", "counters_regained"):
        [event] = events(service, name)
        assert event["node"] == whole.nodes[2].name


def test_service_starts_while_cluster_is_down(
    serve: Serve, whole: Cluster, keys: dict[int, str]
):
    for node in whole.nodes:
        node.kill()
    service = serve(REDIS_URL=whole.url)
    assert get(service, keys[0]).status == 200
    for node in whole.nodes:
        node.start()
    whole.wait_until_whole()
    until(lambda: counters_of(service) == "ok")
    assert get(service, keys[0]).status == 200


def test_service_that_starts_without_the_first_node_counts_on_the_others(
    serve: Serve, whole: Cluster, keys: dict[int, str]
):
    whole.nodes[0].hang()
    service = serve(REDIS_URL=whole.url)
    with load(service.url, [keys[1]]) as clients:
        until(lambda: whole.nodes[1].client.dbsize())
        clients.run(1)
    whole.nodes[0].go_on()
    left = clients.left(keys[1])[-20:]
    assert left == countdown(left)


def test_node_that_returns_counts_again_while_the_first_one_is_lost(
    serve: Serve, whole: Cluster, keys: dict[int, str]
):
    service = serve(REDIS_URL=whole.url)
    with load(service.url, list(keys.values())) as clients:
        whole.nodes[0].hang()
        whole.nodes[1].hang()
        clients.run(1)
        whole.nodes[1].go_on()
        whole.nodes[1].client.flushall()
        until(lambda: whole.nodes[1].client.dbsize())
        clients.run(1)
        whole.nodes[0].go_on()
    left = clients.left(keys[1])[-20:]
    assert left == countdown(left)


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


def test_counts_are_kept_when_many_slots_migrate(
    service: Gunicorn, whole: Cluster, keys: dict[int, str], issue: Callable
):
    moved = [issue() for _ in range(MOVES)]
    with load(service.url, [*keys.values(), *(key for _, key in moved)]) as clients:
        clients.run(0.2)
        for project, _ in moved:
            with whole.moving(f"project:{project}"):
                clients.run(0.1)
    assert clients.statuses() == {200}
    for key in clients.keys:
        left = clients.left(key)
        assert left == countdown(left)


@pytest.mark.parametrize("number", range(5))
def test_commands_reach_a_migrating_slot_after_many_redirections(
    whole: Cluster, number: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(redis_clients, "SERVER_SECONDS", 20.0)

    async def increment(key: str) -> list[int]:
        client = redis_clients.client_at(whole.url)
        try:
            commands = (client.incr(key) for _ in range(CONCURRENT))
            return await asyncio.gather(*commands, return_exceptions=True)
        finally:
            await client.aclose()

    with whole.moving(f"new:{number}"):
        counts = asyncio.run(increment(f"{{new:{number}}}"))
    assert sorted(counts) == list(range(1, CONCURRENT + 1))


def test_service_starts_before_the_cluster_has_slots(
    serve: Serve, issue: Callable, tmp_path: Path
):
    _, key = issue()
    with running(Server(free_node_port(), tmp_path / "node", CLUSTER_OPTIONS)) as node:
        service = serve(REDIS_URL=f"redis+cluster://{node.name}")
        assert get(service, key).status == 200
        add_all_slots(node)
        until(lambda: get(service, key).status == 200 and node.client.dbsize())
    assert "Traceback" not in service.log.read_text()


def test_nodes_of_the_url_are_asked_when_all_known_ones_are_lost(
    serve: Serve, issue: Callable, tmp_path: Path
):
    nodes = [
        Server(free_node_port(), tmp_path / name, CLUSTER_OPTIONS)
        for name in ("one", "other")
    ]
    _, key = issue()

    def sizes() -> list[int]:
        return [node.client.dbsize() for node in nodes]

    with running(nodes[0]), running(nodes[1]):
        for node in nodes:
            add_all_slots(node)
        names = ",".join(node.name for node in nodes)
        service = serve(REDIS_URL=f"redis+cluster://{names}", WEB_CONCURRENCY="1")
        until(lambda: get(service, key).status == 200 and sizes() != [0, 0])
        known, other = sorted(nodes, key=lambda node: -node.client.dbsize())
        known.kill()
        until(lambda: get(service, key).status == 200 and other.client.dbsize())


def add_all_slots(node: Server) -> None:
    for slots in SLOTS:
        node.client.execute_command("CLUSTER ADDSLOTS", *slots)
