"""flask check: what an operator would look at, and what to do."""

import re
import socket
from collections.abc import Callable
from typing import Any

import click
import peewee
from flask import current_app
from flask.cli import with_appcontext
from redis.exceptions import RedisClusterException, RedisError

from petstore import clock, timeouts
from petstore.cli.commands import Command, echo_json, in_one_line, json_option
from petstore.models.projects import Project
from petstore.quotas.redis import redis_storage
from petstore.settings import (
    INTERFACE,
    RELEASE,
    Settings,
    read_settings,
    unknown_settings,
    variables,
)
from petstore.storage import db, migrator
from petstore.upkeep.projects import miscounted

# `ok`, `warning` (which may be intended) or `wrong`, and what was found, or what to do.
Result = tuple[str, str]

OLDEST_POSTGRESQL = 14
OLDEST_REDIS = 6
REDIS_SECONDS = 1.5  # for each step; connecting may be tried twice
POLICY = "noeviction"
MAX_CLOCK_MS = 2 * clock.MS_PER_SECOND
UNAVAILABLE = (
    migrator.NotMigrated,
    peewee.DatabaseError,
    RedisError,
    RedisClusterException,
)
SELF_SIGNED = (
    ". If it is self-signed, as on many platforms, append ?ssl_cert_reqs=none to "
    "REDIS_URL; otherwise set SSL_CERT_FILE to a file with that of its authority"
)


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
    except UNAVAILABLE as error:
        message = in_one_line(error)
        is_refused = "CERTIFICATE_VERIFY_FAILED" in message
        return "wrong", message + SELF_SIGNED * is_refused


def check_version(_settings: Settings) -> Result:
    return "ok", f"Pet Store Service {RELEASE}, with the interface {INTERFACE}"


def check_settings(settings: Settings) -> Result:
    defaults = read_settings({})
    texts = [
        f"{variable}={_text(name, getattr(settings, name))}"
        for variable, name in variables().items()
        if getattr(settings, name) != getattr(defaults, name)
    ]
    text = " ".join(texts) or "each has its default"
    if unknown := unknown_settings():
        return "warning", ". ".join([*unknown, text])
    return "ok", text


def check_database(settings: Settings) -> Result:
    text = _text("database_url", settings.database_url)
    migrator.require_migrated()
    if not db.file:
        if (version := db.version()) < OLDEST_POSTGRESQL:
            advice = f"use PostgreSQL {OLDEST_POSTGRESQL} or newer"
            return "wrong", f"{text} is PostgreSQL {version}; {advice}"
        # Quotas, sessions and keys end by its clock, bans by that of this machine.
        if (apart_ms := abs(db.server_now_ms() - clock.now_ms())) > MAX_CLOCK_MS:
            apart = f"its clock and that of this machine are {apart_ms} ms apart"
            return "wrong", f"{text} answers, but {apart}; let NTP set both"
    if newer := migrator.newer_version():
        return "warning", f"{newer}; run that version"
    if left := Project.all_being_deleted():
        advice = f"`flask projects delete {left[0].slug}` goes on"
        return "warning", f"{text} has a project that is partly deleted; {advice}"
    return "ok", f"{text} answers and is migrated"


def check_rows(_settings: Settings) -> Result:
    wrong, others = miscounted()
    if wrong:
        advice = "when no host runs another release, run `flask projects count-rows`"
        return "wrong", f"{', '.join(wrong)} hold more or fewer than counted; {advice}"
    return "ok", f"as many as counted; large projects that were not compared: {others}"


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
    return "ok", f"{_text('redis_url', settings.redis_url)} answers ({POLICY})"


def check_files(_settings: Settings) -> Result:
    if db.file is None:
        return "ok", "none: the data is in PostgreSQL"
    if db.is_readable_by_others():
        return "wrong", (
            f"{db.file} can be read by other users of this machine, and it holds "
            "the secret that signs sessions unless SECRET_KEY is set. "
            f"Close it: chmod go= {db.file}*"
        )
    return "ok", f"only its owner can read {db.file}"


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
    "rows": check_rows,
    "connections": check_connections,
    "redis": check_redis,
    "files": check_files,
    "proxies": check_proxies,
    "hosts": check_hosts,
}


def _text(field: str, value: Any) -> str:
    """Return the value of a setting without secrets."""
    if field == "secret_key":
        return "set"
    if field in ("database_url", "redis_url"):
        return re.sub("://[^/]*@", "://", value.partition("?")[0])
    return ",".join(map(str, value)) if type(value) is tuple else str(value)


def _addresses(name: str) -> str:
    try:
        found = socket.getaddrinfo(f"{name}.", None, proto=socket.IPPROTO_TCP)
    except OSError:
        return ""
    return ", ".join(sorted({str(address[0]) for *_, address in found}))
