"""Checks of Redis: whether it answers, and whether it keeps the counters."""

import ssl

from redis.exceptions import RedisClusterException, RedisError, TimeoutError

from petstore.cli.checks.results import Result
from petstore.cli.checks.settings import url_text
from petstore.quotas.storages.redis import ServerInfo, redis_storage
from petstore.settings import Settings

OLDEST_REDIS = 6
REQUIRED_POLICY = "noeviction"
ANSWER_SECONDS = 3.0
UNAVAILABLE = (RedisError, RedisClusterException)


def check_redis(settings: Settings) -> Result:
    """Check that every server answers and evicts no counters."""
    if settings.redis_url is None:
        return "ok", "no REDIS_URL: the database counts the requests"
    text = url_text(settings.redis_url)
    try:
        servers = _servers(settings.redis_url)
    except TimeoutError:
        return "wrong", f"{text} gave no answer in {ANSWER_SECONDS:g} s"
    except UNAVAILABLE as error:
        return "wrong", _certificate_fault(error) or f"{text} does not answer: {error}"
    for server in servers:
        if fault := _fault(server):
            return "wrong", f"{text} {fault}"
    version = servers[0]["redis_version"]
    return "ok", f"{text} answers (Redis {version}, {REQUIRED_POLICY})"


def refused_certificate(url: str) -> str | None:
    """Return what to change if the certificate of a Redis with TLS is not accepted."""
    if not url.startswith("rediss:"):
        return None
    try:
        _servers(url)
    except UNAVAILABLE as error:
        return _certificate_fault(error)
    return None


def _servers(url: str) -> list[ServerInfo]:
    # Connecting may be tried twice.
    return redis_storage(url, seconds=ANSWER_SECONDS / 2).servers()


def _certificate_fault(error: BaseException | None) -> str | None:
    """Return the sentence for an error that a certificate has caused."""
    while error:
        if isinstance(error, ssl.SSLCertVerificationError):
            return (
                "REDIS_URL: the certificate of the Redis server is not accepted "
                f"({error.verify_message}). If it is self-signed, as on many "
                "platforms, append ?ssl_cert_reqs=none to REDIS_URL; otherwise set "
                "SSL_CERT_FILE to a file with the certificate of its authority."
            )
        error = error.__cause__ or error.__context__
    return None


def _fault(server: ServerInfo) -> str | None:
    version = str(server["redis_version"])
    if int(version.partition(".")[0]) < OLDEST_REDIS:
        return f"is Redis {version}; use Redis {OLDEST_REDIS} or newer"
    policy = server.get("maxmemory_policy", REQUIRED_POLICY)
    if policy != REQUIRED_POLICY:
        return (
            f"has the eviction policy {policy}, which throws counters away when memory "
            f"is short; set maxmemory-policy {REQUIRED_POLICY}"
        )
    return None
