"""Checks of Redis: availability and eviction policy."""

import socket
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


@pytest.mark.parametrize(
    ("policy", "status"), [("noeviction", "ok"), ("allkeys-lru", "wrong")]
)
def test_redis_must_not_evict_keys(
    redis_url: str, policy: str, status: str, request: pytest.FixtureRequest
):
    client = redis_py.from_url(redis_url)
    request.addfinalizer(lambda: client.config_set("maxmemory-policy", "noeviction"))
    client.config_set("maxmemory-policy", policy)
    found = checked(redis_url)
    assert found[0] == status
    assert "noeviction" in found[1]


def test_unreachable_redis_is_reported_without_its_password():
    url = f"redis://:Geheimnis@127.0.0.1:{servers.free_port()}/0"
    status, message = checked(url)
    assert status == "wrong"
    assert "does not answer" in message
    assert "Geheimnis" not in message


def test_redis_that_is_too_old_is_wrong(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(redis, "OLDEST_REDIS", 99)
    status, message = checked(redis_url)
    assert status == "wrong"
    assert message.endswith("; use Redis 99 or newer")


def test_redis_that_accepts_and_never_answers_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(redis, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        status, message = checked(f"redis://127.0.0.1:{port}/0")
    assert status == "wrong"
    assert message.endswith("gave no answer in 0.2 s")


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
