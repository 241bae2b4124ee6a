"""Checks of Redis: whether it answers, and whether it keeps the counters."""

import asyncio
import ssl
from collections.abc import Iterator
from typing import Any

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.sentinel import SentinelConnectionPool

from petstore import waiting
from petstore.checks.results import CheckResult
from petstore.checks.settings import redis_text
from petstore.quotas.stores.redis_clients import UNAVAILABLE, client_at
from petstore.settings import Settings

OLDEST_REDIS = 6
REQUIRED_POLICY = "noeviction"
ANSWER_SECONDS = 3.0

Info = dict[str, Any]


def check_redis(settings: Settings) -> CheckResult:
    """Check that every server answers and evicts no counters."""
    if settings.redis_url is None:
        return CheckResult.ok("redis", "no REDIS_URL: the database counts the requests")
    text = redis_text(settings.redis_url)
    try:
        servers = waiting.wait(_server_info(settings.redis_url))
    except TimeoutError:
        return CheckResult.wrong(
            "redis", f"{text} gave no answer in {ANSWER_SECONDS:g} s"
        )
    except UNAVAILABLE as error:
        reason = certificate_fault(error) or f"{text} does not answer: {error}"
        return CheckResult.wrong("redis", reason)
    for info in servers:
        if fault := _fault(info):
            return CheckResult.wrong("redis", f"{text} {fault}")
    version = servers[0]["redis_version"]
    return CheckResult.ok(
        "redis", f"{text} answers (Redis {version}, {REQUIRED_POLICY})"
    )


def refused_certificate(url: str) -> str | None:
    """Return what to change if the certificate of a Redis with TLS is not accepted."""
    if not url.startswith("rediss:"):
        return None
    try:
        # Not in a thread: gunicorn forks afterwards.
        asyncio.run(_server_info(url))
    except UNAVAILABLE as error:
        return certificate_fault(error)
    return None


def certificate_fault(error: BaseException) -> str | None:
    """Return the sentence for an error that a certificate has caused."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                "REDIS_URL: the certificate of the Redis server is not accepted "
                f"({cause.verify_message}). If it is self-signed, as on many "
                "platforms, append ?ssl_cert_reqs=none to REDIS_URL; otherwise set "
                "SSL_CERT_FILE to a file with the certificate of its authority."
            )
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error:
        yield error
        error = error.__cause__ or error.__context__


async def _server_info(url: str) -> list[Info]:
    async with asyncio.timeout(ANSWER_SECONDS), client_at(url) as client:
        if isinstance(client, RedisCluster):
            return await _primaries_info(client)
        try:
            return [await client.info()]
        finally:
            await _close_sentinels(client)


async def _primaries_info(cluster: RedisCluster) -> list[Info]:
    nodes = cluster.get_primaries()
    return [await cluster.info(target_nodes=node) for node in nodes]


async def _close_sentinels(client: Redis) -> None:
    # Closing the client does not close its connections to the sentinels.
    pool = client.connection_pool
    if isinstance(pool, SentinelConnectionPool):
        for sentinel in pool.sentinel_manager.sentinels:
            await sentinel.aclose()


def _fault(info: Info) -> str | None:
    version = info["redis_version"]
    if int(version.partition(".")[0]) < OLDEST_REDIS:
        return f"is Redis {version}; use Redis {OLDEST_REDIS} or newer"
    policy = info.get("maxmemory_policy", REQUIRED_POLICY)
    if policy != REQUIRED_POLICY:
        return (
            f"has the eviction policy {policy}, which throws counters away when memory "
            f"is short; set maxmemory-policy {REQUIRED_POLICY}"
        )
    return None
