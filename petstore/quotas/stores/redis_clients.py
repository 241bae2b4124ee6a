"""Clients for a single Redis, for a cluster, and for a master behind sentinels."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import unquote, urlsplit

from redis.asyncio import Redis, RedisCluster, Sentinel
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ClusterError, RedisClusterException, RedisError

# If one of several servers does not answer, there must be time to ask another one.
SERVER_SECONDS = 0.1
MAX_CONNECTIONS = 10_000  # to a node of a cluster
# So many take longer than the time limit of a hit.
REDIRECTION_ROUNDS = 60

UNAVAILABLE = (RedisError, RedisClusterException, OSError)


class Cluster(RedisCluster):
    """A client of a Redis Cluster that needs no particular node."""

    def __init__(self, addresses: list[tuple[str, int]], **options: Any) -> None:
        self._addresses = addresses
        super().__init__(
            startup_nodes=[ClusterNode(*address) for address in addresses],
            require_full_coverage=False,
            # A slot that has moved is no reason to close all connections.
            reinitialize_steps=0,
            # Each hit has a connection of its own.
            max_connections=MAX_CONNECTIONS,
            **options,
        )

    async def initialize(self, *_: Any, **__: Any) -> "Cluster":
        """Find the nodes; called by redis-py before a command."""
        try:
            with _cluster_errors():
                await super().initialize(self._addresses)
        except BaseException:
            # redis-py also sends a command to the first master. If that one does not
            # answer, the next attempt must begin with another one.
            for master in self.get_primaries()[:1]:
                self.nodes_manager.move_node_to_end_of_cached_nodes(master.name)
            raise
        return self

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """Run a command, and follow up to 16 times REDIRECTION_ROUNDS redirections.

        redis-py gives up after 16. While a slot migrates, it may send ASKING on one
        connection and the command on another, which is then redirected once more.
        """
        rounds_left = REDIRECTION_ROUNDS
        while True:
            try:
                return await super().execute_command(*args, **options)
            except ClusterError as error:
                rounds_left -= 1
                is_redirected = type(error) is ClusterError  # else the cluster is down
                if not (is_redirected and rounds_left):
                    raise

    async def find_node(self, key: str) -> ClusterNode:
        """Find the node of a key again, as it may have been replaced.

        Unlike a failed command of the client, a failed command of the node has no
        effect on the other nodes. Raises an error of `UNAVAILABLE`.
        """
        with _cluster_errors():
            await self.nodes_manager.initialize(self._addresses, self.node_name(key))
            return self.nodes_manager.get_node_from_slot(self.keyslot(key))

    def node_name(self, key: str) -> str:
        """Return the address of the node of a key, or "" if it is not known."""
        with suppress(*UNAVAILABLE):
            node = self.get_node_from_key(key)
            return str(node.name) if node else ""
        return ""


@contextmanager
def _cluster_errors() -> Iterator[None]:
    try:
        yield
    except LookupError as error:  # redis-py raises it when no node has slots
        raise RedisClusterException("no node has slots") from error


def client_at(url: str) -> Redis | Cluster:
    """Return a client for a URL that the settings have checked."""
    # No retries: a hit that was sent may have been counted.
    options: dict[str, Any] = {"retry": Retry(NoBackoff(), 0), "protocol": 2}
    parts = urlsplit(url)
    if not parts.scheme.startswith("redis+"):
        return Redis.from_url(url, **options)
    options |= _limited(SERVER_SECONDS)
    user = {"username": parts.username, "password": parts.password}
    options |= {name: unquote(value) for name, value in user.items() if value}
    servers = [
        (host, int(port))
        for server in parts.netloc.split("@")[-1].split(",")
        for host, port in [server.rsplit(":", 1)]
    ]
    if parts.scheme == "redis+cluster":
        return Cluster(servers, **options)
    # All sentinels together may take as long as one server.
    sentinel_options = options | _limited(SERVER_SECONDS / len(servers))
    sentinel = Sentinel(servers, sentinel_kwargs=sentinel_options, **options)
    master: Redis = sentinel.master_for(parts.path.strip("/"))
    return master


def _limited(seconds: float) -> dict[str, Any]:
    return {"socket_timeout": seconds, "socket_connect_timeout": seconds}
