"""Clients for a single Redis, for a cluster, and for a master behind sentinels."""

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


def client_at(url: str) -> Redis | RedisCluster:
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
        return RedisCluster(startup_nodes=nodes, require_full_coverage=False, **options)
    # All sentinels together may take as long as one server.
    sentinel_options = options | _limited(SERVER_SECONDS / len(servers))
    sentinels = [(host, int(port)) for host, port in servers]
    sentinel = Sentinel(sentinels, sentinel_kwargs=sentinel_options, **options)
    master: Redis = sentinel.master_for(parts.path.strip("/"))
    return master


def _limited(seconds: float) -> dict[str, Any]:
    return {"socket_timeout": seconds, "socket_connect_timeout": seconds}
