"""Clients for a Redis, alone or behind sentinels, and for a Redis Cluster."""

import asyncio
import hashlib
import ssl
from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from redis.asyncio import RedisCluster, Sentinel
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisClusterException, RedisError

from petstore import timeouts
from petstore.quotas.stores.redis_connection import Command, RedisConnection

MAX_CONNECTIONS = 10_000  # to a node of a cluster: each hit has one of its own
DEFAULT_PORT = 6379

UNAVAILABLE = (RedisError, RedisClusterException, OSError)

ServerInfo = dict[str, str]


class SingleClient:
    """A client of one Redis, or of the master that sentinels name.

    A connection sends the scripts once, and then calls them by their digests.
    """

    def __init__(self, url: SplitResult, scripts: tuple[str, ...]) -> None:
        self._url = url
        self._tls = _tls_context(url) if url.scheme == "rediss" else None
        self._greeting: list[Command] = []
        if credentials := _credentials(url):
            self._greeting.append(("AUTH", *credentials))
        if url.scheme != "redis+sentinel" and (number := url.path.strip("/")):
            self._greeting.append(("SELECT", number))
        self._greeting += [("SCRIPT", "LOAD", script) for script in scripts]
        self._digests = {
            script: hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()
            for script in scripts
        }
        self._connection: RedisConnection | None = None

    async def run(self, script: str, key: str, *arguments: int | str) -> Any:
        """Return what a script returns; raises an error of `UNAVAILABLE`."""
        digest = self._digests[script]
        return await self._execute("EVALSHA", digest, 1, key, *arguments)

    async def info(self) -> list[ServerInfo]:
        """Return what the only server tells about itself."""
        lines = (await self._execute("INFO")).decode().splitlines()
        return [dict(line.split(":", 1) for line in lines if ":" in line)]

    async def close(self) -> None:
        """Close the connection."""
        if self._connection:
            self._connection.fail(ConnectionError("closed"))

    def _execute(self, *command: int | str) -> asyncio.Future[Any]:
        if self._connection is None or self._connection.is_closed:
            self._connection = RedisConnection(self._connect, self._greeting)
        return self._connection.execute(command)

    async def _connect(self, protocol: Callable[[], asyncio.Protocol]) -> None:
        if self._url.scheme == "redis+sentinel":
            host, port = await _find_master(self._url)
        else:
            host, port = str(self._url.hostname), self._url.port or DEFAULT_PORT
        loop = asyncio.get_running_loop()
        await loop.create_connection(protocol, host, port, ssl=self._tls)


class ClusterClient:
    """A client of a Redis Cluster."""

    def __init__(self, url: SplitResult, scripts: tuple[str, ...]) -> None:
        self._cluster = RedisCluster(
            startup_nodes=[ClusterNode(*server) for server in _servers(url)],
            # A slot that has moved is no reason to close all connections.
            reinitialize_steps=0,
            max_connections=MAX_CONNECTIONS,
            **_options(url, timeouts.LIMITS.redis_server_seconds),
        )
        self._calls = {text: self._cluster.register_script(text) for text in scripts}

    async def run(self, script: str, key: str, *arguments: int | str) -> Any:
        """Return what a script returns; raises an error of `UNAVAILABLE`."""
        try:
            async with asyncio.timeout(timeouts.LIMITS.hit_seconds):
                return await self._calls[script]([key], arguments)
        except (RuntimeError, AttributeError, LookupError) as error:
            # For a connection that was closed meanwhile, or if no node has slots.
            raise RedisClusterException(str(error)) from error

    async def info(self) -> list[ServerInfo]:
        """Return what each master tells about itself."""
        await self._cluster.initialize()
        masters = self._cluster.get_primaries()
        return [await self._cluster.info(target_nodes=master) for master in masters]

    async def close(self) -> None:
        """Close the connections."""
        await self._cluster.aclose()


Client = SingleClient | ClusterClient


def client_at(url: str, *scripts: str) -> Client:
    """Return a client that runs these Lua scripts, for a URL from the settings."""
    parts = urlsplit(url)
    is_cluster = parts.scheme == "redis+cluster"
    return (ClusterClient if is_cluster else SingleClient)(parts, scripts)


async def _find_master(url: SplitResult) -> tuple[str, int]:
    # All sentinels together may take as long as one server.
    seconds = timeouts.LIMITS.redis_server_seconds / len(_servers(url))
    options = _options(url, seconds)
    async with Sentinel(_servers(url), sentinel_kwargs=options) as sentinel:
        return await sentinel.discover_master(url.path.strip("/"))


def _options(url: SplitResult, seconds: float) -> dict[str, Any]:
    return dict(zip(("username", "password"), _credentials(url), strict=False)) | {
        "retry": Retry(NoBackoff(), 0),  # a hit that was sent may have been counted
        "protocol": 2,
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
    }


def _servers(url: SplitResult) -> list[tuple[str, int]]:
    return [
        (host, int(port))
        for server in url.netloc.rpartition("@")[2].split(",")
        for host, port in [server.rsplit(":", 1)]
    ]


def _credentials(url: SplitResult) -> tuple[str, ...]:
    """Return user and password, if there are any."""
    if not (url.username or url.password):
        return ()
    return unquote(url.username or "default"), unquote(url.password or "")


def _tls_context(url: SplitResult) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if url.query == "ssl_cert_reqs=none":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
