"""Whether Redis is reached, and keeps what it is given."""

import asyncio
import ssl
from collections.abc import Iterator
from typing import Any

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.sentinel import SentinelConnectionPool

from petstore import waiting
from petstore.checks.findings import Finding
from petstore.checks.understood import redis_text
from petstore.quotas.stores.redis_clients import UNAVAILABLE, client_at
from petstore.settings import Settings

CHECK = "redis"
OLDEST_REDIS = 6
WANTED_POLICY = "noeviction"
ANSWER_SECONDS = 3.0

Facts = dict[str, Any]


def check(settings: Settings) -> Finding:
    """Every server that counts answers, and throws no counter away."""
    if settings.redis_url is None:
        return Finding.ok(CHECK, "no REDIS_URL: the database counts the requests")
    where = redis_text(settings.redis_url)
    try:
        servers = waiting.wait(_ask(settings.redis_url))
    except TimeoutError:
        return Finding.wrong(CHECK, f"{where} gave no answer in {ANSWER_SECONDS:g} s")
    except UNAVAILABLE as error:
        reason = certificate_fault(error) or f"{where} does not answer: {error}"
        return Finding.wrong(CHECK, reason)
    for facts in servers:
        if fault := _fault(facts):
            return Finding.wrong(CHECK, f"{where} {fault}")
    version = servers[0]["redis_version"]
    return Finding.ok(CHECK, f"{where} answers (Redis {version}, {WANTED_POLICY})")


def refused_certificate(url: str) -> str | None:
    """What to change where the certificate of a Redis with TLS is not accepted."""
    if not url.startswith("rediss:"):
        return None
    try:
        # gunicorn forks afterwards: no thread may be left behind.
        asyncio.run(_ask(url))
    except UNAVAILABLE as error:
        return certificate_fault(error)
    return None


def certificate_fault(error: BaseException) -> str | None:
    """The sentence for an error that comes from a certificate."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                "REDIS_URL: the certificate of the Redis server is not accepted "
                f"({cause.verify_message}). Where nobody has signed it, as on many "
                "platforms, append ?ssl_cert_reqs=none to REDIS_URL; else let "
                "SSL_CERT_FILE name a file with the authority that has."
            )
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error:
        yield error
        error = error.__cause__ or error.__context__


async def _ask(url: str) -> list[Facts]:
    async with asyncio.timeout(ANSWER_SECONDS), client_at(url) as client:
        if isinstance(client, RedisCluster):
            return await _ask_each(client)
        try:
            return [await client.info()]
        finally:
            await _close_sentinels(client)


async def _ask_each(cluster: RedisCluster) -> list[Facts]:
    nodes = cluster.get_primaries()
    return [await cluster.info(target_nodes=node) for node in nodes]


async def _close_sentinels(client: Redis) -> None:
    # The client of a master does not close what it has asked for its address.
    pool = client.connection_pool
    if isinstance(pool, SentinelConnectionPool):
        for sentinel in pool.sentinel_manager.sentinels:
            await sentinel.aclose()


def _fault(facts: Facts) -> str | None:
    version = facts["redis_version"]
    if int(version.partition(".")[0]) < OLDEST_REDIS:
        return f"is Redis {version}; use Redis {OLDEST_REDIS} or newer"
    policy = facts.get("maxmemory_policy", WANTED_POLICY)
    if policy != WANTED_POLICY:
        return (
            f"has the eviction policy {policy}, which throws counters away when memory "
            f"is short; set maxmemory-policy {WANTED_POLICY}"
        )
    return None
