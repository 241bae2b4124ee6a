"""Clients for a single Redis, for a cluster, and for a master behind sentinels."""

from contextlib import suppress
from typing import Any
from urllib.parse import unquote, urlsplit

from redis.asyncio import Redis, RedisCluster, Sentinel
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisClusterException, RedisError

# If one of several servers does not answer, there must be time to ask another one.
SERVER_SECONDS = 0.1

UNAVAILABLE = (RedisError, RedisClusterException, OSError)


class Cluster(RedisCluster):
    """A client of a Redis Cluster that needs no particular node."""

    async def initialize(self, *arguments: Any, **options: Any) -> "Cluster":
        """Find the nodes; called by redis-py before a command."""
        try:
            await super().initialize(*arguments, **options)
        except BaseException:
            # redis-py also sends a command to the first master. If that one does not
            # answer, the next attempt must begin with another one.
            for master in self.get_primaries()[:1]:
                self.nodes_manager.move_node_to_end_of_cached_nodes(master.name)
            raise
        return self

    async def find_node(self, key: str) -> None:
        """Find the node of a key again, as it may have been replaced, and ask it.

        Unlike a failed command of the client, a node that does not answer here has no
        effect on the others. Raises an error of `UNAVAILABLE`.
        """
        lost = self.node_name(key)
        await self.nodes_manager.initialize(last_failed_node_name=lost)
        if node := self.get_node_from_key(key):
            await node.execute_command("EXISTS", key)

    def node_name(self, key: str) -> str:
        """Return the address of the node of a key, or "" if it is not known."""
        with suppress(*UNAVAILABLE):
            node = self.get_node_from_key(key)
            return str(node.name) if node else ""
        return ""


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
        server.rsplit(":", 1) for server in parts.netloc.split("@")[-1].split(",")
    ]
    if parts.scheme == "redis+cluster":
        nodes = [ClusterNode(host, int(port)) for host, port in servers]
        return Cluster(startup_nodes=nodes, require_full_coverage=False, **options)
    # All sentinels together may take as long as one server.
    sentinel_options = options | _limited(SERVER_SECONDS / len(servers))
    sentinels = [(host, int(port)) for host, port in servers]
    sentinel = Sentinel(sentinels, sentinel_kwargs=sentinel_options, **options)
    master: Redis = sentinel.master_for(parts.path.strip("/"))
    return master


def _limited(seconds: float) -> dict[str, Any]:
    return {"socket_timeout": seconds, "socket_connect_timeout": seconds}
