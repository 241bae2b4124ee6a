"""Tests for the time limit of a hit on Redis."""

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from redis.exceptions import RedisError

from petstore.quotas.plans import quota_of
from petstore.quotas.stores import CounterStorage, open_store
from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim
from tests import servers
from tests.torture.proxies import Proxy, proxy

CLAIM = Claim(Subject("somebody", 1), quota_of(None))


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Proxy]:
    options = ("--requirepass", "p")
    with (
        servers.redis(tmp_path, *options) as url,
        proxy(urlsplit(url).port) as network,
    ):
        yield network


@pytest.fixture
def store_at(network: Proxy) -> Iterator[Callable[[str], CounterStorage]]:
    with ExitStack() as stack:

        def store_at(host: str) -> CounterStorage:
            store = open_store(f"redis://:p@{host}:{network.port}/3")
            stack.callback(store.close)
            return store

        yield store_at


def test_all_steps_of_a_first_hit_share_one_time_limit(
    store_at: Callable[[str], CounterStorage], network: Proxy
):
    store = store_at("127.0.0.1")
    network.delay = lambda: 0.12
    with pytest.raises(RedisError):  # each step alone would be fast enough
        store.take(CLAIM)


@pytest.mark.usefixtures("patience")
def test_slow_answer_within_the_limit_is_accepted(
    store_at: Callable[[str], CounterStorage], network: Proxy
):
    store = store_at("127.0.0.1")
    store.take(CLAIM)
    network.delay = lambda: 0.05
    assert store.take(CLAIM).served[1] == 2


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """An event that must be set before `redis.test` can be resolved."""
    works, resolve = threading.Event(), socket.getaddrinfo

    def answer(host: str, *args: object, **options: object) -> list:
        if host == "redis.test":
            works.wait()
            host = "127.0.0.1"
        return resolve(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    yield works
    works.set()


def test_slow_dns_lookup_times_out(
    store_at: Callable[[str], CounterStorage], resolver: threading.Event
):
    store = store_at("redis.test")
    for _ in range(2):
        with pytest.raises(RedisError):
            store.take(CLAIM)
    assert not resolver.is_set()
    resolver.set()
    assert store.take(CLAIM).served[1] == 1


@pytest.mark.usefixtures("patience")
def test_concurrent_hits_are_all_counted(
    store_at: Callable[[str], CounterStorage],
):
    store = store_at("127.0.0.1")
    with ThreadPoolExecutor(16) as pool:
        tallies = list(pool.map(lambda _: store.take(CLAIM), range(60)))
    assert sorted(tally.served[1] for tally in tallies) == list(range(1, 61))
