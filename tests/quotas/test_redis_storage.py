"""The storage for one Redis: its connections, and what it takes for an outage."""

import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import redis

from petstore.quotas.limiter import STRANGERS
from petstore.quotas.redis import SingleStorage, redis_storage
from petstore.quotas.strategy import Hit
from petstore.storage import Busy
from petstore.timeouts import Limits
from tests.harness.clusters import Server

HITS = [Hit("somebody", STRANGERS)]


@pytest.fixture
def server(redis_url: str) -> Iterator[redis.Redis]:
    with redis.from_url(redis_url) as server:
        yield server
        server.acl_deluser("shop")
        server.config_set("requirepass", "")


@pytest.fixture
def storage(redis_url: str, server: redis.Redis) -> SingleStorage:
    return redis_storage(redis_url)


def test_hits_one_after_the_other_share_a_connection(
    storage: SingleStorage, server: redis.Redis
):
    before = server.info()["total_connections_received"]
    assert [storage.count(HITS).used[0] for _ in range(5)] == [1, 2, 3, 4, 5]
    assert server.info()["total_connections_received"] == before + 1


def test_lost_scripts_are_sent_again(storage: SingleStorage, server: redis.Redis):
    storage.count(HITS)
    server.script_flush()
    assert storage.count(HITS).used[0] == 2


@pytest.mark.parametrize("user", ["shop:se%3Acret", ":p%40ss"])
def test_user_and_password_are_sent_decoded(
    redis_url: str, server: redis.Redis, user: str
):
    server.acl_setuser(
        "shop", enabled=True, passwords="+se:cret", keys="*", commands=["+@all"]
    )
    server.config_set("requirepass", "p@ss")
    url = redis_url.replace("://", f"://{user}@").replace("/0", "/3")
    assert redis_storage(url).count(HITS).is_granted


def test_errors_of_the_server_are_outages(storage: SingleStorage, server: redis.Redis):
    server.config_set("maxmemory", 1)
    try:
        with pytest.raises(storage.base_exceptions, match="OOM"):
            storage.count(HITS)
    finally:
        server.config_set("maxmemory", 0)
    assert storage.count(HITS).is_granted


def test_server_that_does_not_answer_is_given_up_in_a_quarter_of_a_second(
    redis: Server, set_limits: Callable[..., None]
):
    set_limits(redis_seconds=Limits().redis_seconds)
    storage = redis_storage(redis.url)
    storage.count(HITS)
    redis.hang()
    for _ in range(2):  # on a connection that there is, and on a new one
        began = time.monotonic()
        with pytest.raises(storage.base_exceptions):
            storage.count(HITS)
        assert 0.15 < time.monotonic() - began < 0.25


def test_hits_wait_for_a_connection_and_are_no_outage(
    redis_url: str, set_limits: Callable[..., None]
):
    set_limits(redis_connections=1, queue_seconds=0.1)
    storage = redis_storage(redis_url)
    storage._turns.get()
    with pytest.raises(Busy):
        storage.count(HITS)
    threading.Timer(0.05, storage._turns.put, [None]).start()
    assert storage.count(HITS).is_granted


def test_hits_that_have_waited_for_one_that_failed_fail_at_once(
    redis: Server, set_limits: Callable[..., None]
):
    set_limits(redis_connections=1, redis_seconds=0.1)
    storage = redis_storage(redis.url)
    storage.count(HITS)
    redis.hang()
    took: list[float] = []

    def hit() -> None:
        began = time.monotonic()
        with pytest.raises(storage.base_exceptions):
            storage.count(HITS)
        took.append(time.monotonic() - began)

    threads = [threading.Thread(target=hit) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(took) < 0.25


def test_server_that_is_no_redis_is_an_outage():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(100)
                client.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=answer).start()
        storage = redis_storage(f"redis://127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(storage.base_exceptions, match="Protocol"):
            storage.count(HITS)
