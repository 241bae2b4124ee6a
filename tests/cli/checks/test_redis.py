"""Checks of Redis: availability and eviction policy."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis as redis_py

from petstore.checks import redis
from petstore.checks.results import CheckResult
from petstore.settings import read_settings
from tests import clusters, sentinels, servers


def checked(url: str) -> CheckResult:
    return redis.check_redis(read_settings({"REDIS_URL": url}))


def test_check_without_redis_is_ok():
    assert redis.check_redis(read_settings({})).status == "ok"


@pytest.fixture
def with_policy(redis_url: str) -> Iterator[Callable[[str], None]]:
    client = redis_py.from_url(redis_url)
    yield lambda policy: client.config_set("maxmemory-policy", policy)
    client.config_set("maxmemory-policy", "noeviction")


def test_redis_without_eviction_is_ok(redis_url: str):
    found = checked(redis_url)
    assert found.status == "ok"
    assert "noeviction" in found.message


def test_redis_that_evicts_keys_is_wrong(redis_url: str, with_policy: Callable):
    with_policy("allkeys-lru")
    found = checked(redis_url)
    assert found.is_wrong
    assert "set maxmemory-policy noeviction" in found.message


def test_unreachable_redis_is_reported_without_its_password():
    found = checked(f"redis://:Geheimnis@127.0.0.1:{servers.free_port()}/0")
    assert found.is_wrong
    assert "does not answer" in found.message
    assert "Geheimnis" not in found.message


def test_each_node_of_a_cluster_is_checked(tmp_path: Path):
    with clusters.cluster(tmp_path) as cluster:
        assert checked(cluster.url).status == "ok"
        node = cluster.nodes[-1]
        node.client.config_set("maxmemory-policy", "volatile-ttl")
        assert "volatile-ttl" in checked(cluster.url).message


def test_master_named_by_the_sentinel_is_checked(tmp_path: Path):
    with sentinels.watched(tmp_path) as watched:
        watched.master.client.config_set("maxmemory-policy", "allkeys-lfu")
        assert "allkeys-lfu" in checked(watched.url).message
