"""Checks of Redis: availability and eviction policy."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis as redis_py

from petstore.cli.checks import redis
from petstore.cli.checks.results import Result
from petstore.settings import read_settings
from tests.harness import clusters, sentinels, servers


def checked(url: str) -> Result:
    return redis.check_redis(read_settings({"REDIS_URL": url}))


def test_check_without_redis_is_ok():
    assert redis.check_redis(read_settings({}))[0] == "ok"


@pytest.fixture
def with_policy(redis_url: str) -> Iterator[Callable[[str], None]]:
    client = redis_py.from_url(redis_url)
    yield lambda policy: client.config_set("maxmemory-policy", policy)
    client.config_set("maxmemory-policy", "noeviction")


def test_redis_without_eviction_is_ok(redis_url: str):
    status, message = checked(redis_url)
    assert status == "ok"
    assert "noeviction" in message


def test_redis_that_evicts_keys_is_wrong(redis_url: str, with_policy: Callable):
    with_policy("allkeys-lru")
    status, message = checked(redis_url)
    assert status == "wrong"
    assert "set maxmemory-policy noeviction" in message


def test_unreachable_redis_is_reported_without_its_password():
    url = f"redis://:Geheimnis@127.0.0.1:{servers.free_port()}/0"
    status, message = checked(url)
    assert status == "wrong"
    assert "does not answer" in message
    assert "Geheimnis" not in message


def test_each_node_of_a_cluster_is_checked(tmp_path: Path):
    with clusters.cluster(tmp_path) as cluster:
        assert checked(cluster.url)[0] == "ok"
        node = cluster.nodes[-1]
        node.client.config_set("maxmemory-policy", "volatile-ttl")
        assert "volatile-ttl" in checked(cluster.url)[1]


def test_master_named_by_the_sentinel_is_checked(tmp_path: Path):
    with sentinels.watched(tmp_path) as watched:
        watched.master.client.config_set("maxmemory-policy", "allkeys-lfu")
        assert "allkeys-lfu" in checked(watched.url)[1]
