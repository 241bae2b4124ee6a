"""flask check: what an operator would look at, and what to do."""

import os
import re
import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import click
import peewee
from flask import current_app
from flask.cli import with_appcontext
from redis.exceptions import RedisClusterException, RedisError

from petstore import clock, randomness, timeouts
from petstore.cli.commands import Command, echo_json, in_one_line, json_option
from petstore.models import RuleError
from petstore.models.projects import Project
from petstore.models.secrets import Secret
from petstore.quotas.limiter import Limiter
from petstore.quotas.redis import redis_storage
from petstore.settings import (
    INTERFACE,
    MEMORY,
    RELEASE,
    Settings,
    unknown_settings,
)
from petstore.storage import db, migrator

# `ok`, `warning` (which may be intended) or `wrong`; and what was found, or what is
# wrong, what that means, and what to do.
Result = tuple[str, str]

OLDEST_POSTGRESQL = 14
OLDEST_REDIS = 6
REDIS_SECONDS = 1.5  # for each step; connecting may be tried twice
POLICY = "noeviction"
MAX_CLOCK_MS = 2 * clock.MS_PER_SECOND
LEAST_FREE_MIB = 500
# Patterns of errors, each with what to do. The first one that matches counts.
REMEDIES = {
    "flask migrate|release before": "",  # the text says what to do
    "CERTIFICATE_VERIFY_FAILED": "If the certificate is self-signed, as on many "
    "platforms, append ?ssl_cert_reqs=none to REDIS_URL; otherwise set SSL_CERT_FILE "
    "to a file with that of its authority",
    "OOM": "Raise its maxmemory",
    "(?i)read-only transaction|read only replica": "Name the primary server in its URL",
    "(?i)disk is full|no space|disk i/o|misconf": "Make room on its disk",
    "(?i)readonly|unable to open|permission denied": "Let the user of the service "
    "write to it and to its directory",
    "(?i)password|auth|permissions": "Correct the user, the password or the rights",
    "": "Start its server, or correct its URL",
}
UNSERVED = "Requests get a 503"
UNCOUNTED = "Each worker counts for itself, so projects may get more than their limits"


@click.command(cls=Command)
@json_option
@with_appcontext
def check(*, as_json: bool) -> None:
    """Check the settings, the stores and the network, and say what to do."""
    settings = current_app.extensions["settings"]
    results = [(name, *_result(run, settings)) for name, run in CHECKS.items()]
    if as_json:
        names = ("check", "status", "message")
        echo_json(dict(zip(names, result, strict=True)) for result in results)
    else:
        for name, status, message in results:
            click.echo(f"{name:<11} {status:<8} {message}")
    if any(status == "wrong" for _, status, _ in results):
        raise click.exceptions.Exit(1)


def _result(run: Callable[[Settings], Result], settings: Settings) -> Result:
    try:
        return run(settings)
    except (RedisError, RedisClusterException) as error:
        return "wrong", _explained(error, UNCOUNTED)
    except (migrator.NotMigrated, peewee.DatabaseError, RuleError) as error:
        return "wrong", _explained(error, UNSERVED)


def check_version(_settings: Settings) -> Result:
    return "ok", f"Pet Store Service {RELEASE}, with the interface {INTERFACE}"


def check_settings(_settings: Settings) -> Result:
    if unknown := unknown_settings():
        return "warning", ". ".join(unknown)
    return "ok", "each PETSTORE_ variable is a setting"


def check_database(settings: Settings) -> Result:
    text = _without_secrets(settings.database_url)
    migrator.require_migrated()
    if not db.file:
        if (version := db.version()) < OLDEST_POSTGRESQL:
            advice = f"use PostgreSQL {OLDEST_POSTGRESQL} or newer"
            return "wrong", f"{text} is PostgreSQL {version}; {advice}"
        # Quotas, sessions and keys end by its clock, bans by that of this machine.
        if fault := _clock_fault(db.server_now_ms()):
            return "wrong", f"{text} answers, but {fault}"
    Secret.try_database()
    if newer := migrator.newer_version():
        return "warning", f"{newer}; run that version"
    if left := Project.all_being_deleted():
        advice = f"`flask projects delete {left[0].slug}` goes on"
        return "warning", f"{text} has a project that is partly deleted; {advice}"
    return "ok", f"{text} answers, is migrated and can be written"


def check_connections(settings: Settings) -> Result:
    if db.file:
        return "ok", "none: the data is in SQLite"
    workers, each = settings.workers, timeouts.LIMITS.connections
    allowed = db.most_connections()
    text = f"{workers} workers may open {workers * each} of {allowed} in PostgreSQL"
    if workers * each <= allowed:
        return "ok", text
    return "warning", (
        f"{text}, so that requests may wait for each other. Set WEB_CONCURRENCY to "
        f"{max(1, allowed // each)}, or raise max_connections or the limit of the role"
    )


def check_redis(settings: Settings) -> Result:
    if settings.redis_url is None:
        return "ok", "no REDIS_URL: the database counts the requests"
    for server in redis_storage(settings.redis_url, seconds=REDIS_SECONDS).servers():
        version, policy = server["redis_version"], server.get("maxmemory_policy")
        if int(version.partition(".")[0]) < OLDEST_REDIS:
            return "wrong", f"{version} is too old; use Redis {OLDEST_REDIS} or newer"
        if policy not in (None, POLICY):
            evicts = f"{policy} throws counters away when memory is short"
            return "wrong", f"{evicts}; set maxmemory-policy {POLICY}"
    return "ok", f"{_without_secrets(settings.redis_url)} answers ({POLICY})"


def check_counters(settings: Settings) -> Result:
    """Count a request of an address that nobody has, as the service counts."""
    limiter = Limiter(settings)
    decision = limiter.count(None, f"192.0.2.{randomness.source.randrange(256)}")
    if limiter.strategy.is_down:
        return "wrong", _explained(limiter.strategy.reason, UNCOUNTED)
    if settings.redis_url and (fault := _clock_fault(decision.now_ms)):
        return "wrong", f"Redis counts, but {fault}"
    return "ok", "a request was counted"


def _clock_fault(now_ms: int) -> str:
    if (apart_ms := abs(now_ms - clock.now_ms())) <= MAX_CLOCK_MS:
        return ""
    apart = f"its clock and that of this machine are {apart_ms} ms apart"
    return f"{apart}: limits, sessions and bans end too early or late. Let NTP set both"


def check_metrics(settings: Settings) -> Result:
    """Write as much as all workers need, where they keep their metrics."""
    place = settings.metrics_directory or MEMORY or tempfile.gettempdir()
    needed = 2 * settings.workers * timeouts.LIMITS.metrics_bytes
    try:
        Path(place).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place) as file:
            os.posix_fallocate(file.fileno(), 0, needed)
    except OSError as error:
        return "wrong", (
            f"{place} takes no {needed // 1024:,} KiB of metrics: {error.strerror}. "
            "Workers may start without metrics, or not at all. Make room, or set "
            "PROMETHEUS_MULTIPROC_DIR to another directory in memory"
        )
    return "ok", f"{place} has room for the metrics of {settings.workers} workers"


def check_files(_settings: Settings) -> Result:
    if db.file is None:
        return "ok", "none: the data is in PostgreSQL"
    if db.is_readable_by_others():
        return "wrong", (
            f"{db.file} can be read by other users of this machine, and it holds "
            "the secret that signs sessions unless SECRET_KEY is set. "
            f"Close it: chmod go= {db.file}*"
        )
    free_mib = shutil.disk_usage(Path(db.file).absolute().parent).free // 1024**2
    text = f"only its owner can read {db.file}, and {free_mib:,} MiB are free there"
    if free_mib >= LEAST_FREE_MIB:
        return "ok", text
    return "warning", f"{text}. On a full disk, each write gets a 503. Make room"


def check_proxies(settings: Settings) -> Result:
    if settings.base_domain and not settings.trusted_proxies:
        return "wrong", (
            "PETSTORE_BASE_DOMAIN needs a TLS proxy in front, and "
            "PETSTORE_TRUSTED_PROXIES is 0, so all clients behind that proxy count as "
            "one address. Set PETSTORE_TRUSTED_PROXIES=1"
        )
    return "ok", f"{settings.trusted_proxies} trusted"


def check_hosts(settings: Settings) -> Result:
    base = settings.base_domain
    if base is None:
        return "ok", "no PETSTORE_BASE_DOMAIN: every host is served"
    # Nobody has created a record for this name, so only a wildcard answers.
    own, below = _addresses(base), _addresses(f"flask-check.{base}")
    if own and own == below:
        return "ok", f"{base} and *.{base} lead to {own}"
    return "warning" if own and below else "wrong", (
        f"DNS leads {base} to {own or 'no address'}, and *.{base} to "
        f"{below or 'no address'}; both must lead to the TLS proxy"
    )


CHECKS = {
    "version": check_version,
    "settings": check_settings,
    "database": check_database,
    "connections": check_connections,
    "redis": check_redis,
    "counters": check_counters,
    "metrics": check_metrics,
    "files": check_files,
    "proxies": check_proxies,
    "hosts": check_hosts,
}


def _explained(error: Exception | str, meaning: str) -> str:
    """Return what is wrong, what it means, and what to do, in one line."""
    text = in_one_line(error).rstrip(".?")
    remedy = next(words for part, words in REMEDIES.items() if re.search(part, text))
    return f"{text}. {meaning}. {remedy}" if remedy else text


def _without_secrets(url: str) -> str:
    return re.sub("://[^/]*@", "://", url.partition("?")[0])


def _addresses(name: str) -> str:
    try:
        found = socket.getaddrinfo(f"{name}.", None, proto=socket.IPPROTO_TCP)
    except OSError:
        return ""
    return ", ".join(sorted({str(address[0]) for *_, address in found}))
