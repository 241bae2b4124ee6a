"""flask check: what an operator would look at, and what to do."""

import re
import shutil
import stat
import tomllib
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import click
import peewee
from flask import current_app
from flask.cli import with_appcontext
from redis.exceptions import NoPermissionError, RedisClusterException, RedisError

from petstore import clock, randomness, timeouts
from petstore.cli.commands import Command, echo_json, in_one_line, json_option
from petstore.extensions import EXTENSIONS
from petstore.models import RuleError
from petstore.models.projects import Project
from petstore.models.secrets import Secret
from petstore.quotas.fallback import FallbackRateLimiter
from petstore.quotas.limiter import STRANGERS
from petstore.quotas.redis import redis_storage
from petstore.quotas.strategy import AlignedWindowRateLimiter, Window
from petstore.settings import (
    INTERFACE,
    RELEASE,
    Settings,
    unknown_settings,
)
from petstore.storage import db, migrator

# `ok`, `warning` (which may be intended), `wrong`, or `skipped` (it could not be looked
# at); and what was found, or what is wrong, what that means, and what to do.
Result = tuple[str, str]
Row = tuple[str, str, str]  # and before these the name of the check
Check = Callable[[Settings], Result]

OLDEST_POSTGRESQL = 14
OLDEST_REDIS = 6
REDIS_SECONDS = 1.5  # for each step; connecting may be tried twice
POLICY = "noeviction"
OF_REDIS = RedisError, RedisClusterException
OF_DATABASE = migrator.NotMigrated, peewee.DatabaseError, RuleError
MAX_CLOCK_MS = 2 * clock.MS_PER_SECOND
LEAST_FREE_MIB = 500
# The row with the time of the last backup, which deploy/backup.sh writes, too.
LAST_BACKUP = "last_backup"
MAX_BACKUP_DAYS = 2
REMEDIES = tomllib.loads(Path(__file__).with_name("remedies.toml").read_text())
BY_OTHERS = stat.S_IRGRP | stat.S_IROTH
# SQLite creates these beside a database file, with the same mode.
SIDE_FILES = ("-wal", "-shm", "-journal")
# That the server allows our user and database.
MOST_CONNECTIONS = """
SELECT least(nullif(rolconnlimit, -1), nullif(datconnlimit, -1), setting::int
    - current_setting('superuser_reserved_connections')::int)
FROM pg_roles, pg_database, pg_settings WHERE rolname = current_user
    AND datname = current_database() AND name = 'max_connections'
"""
UNSERVED = "Requests get a 503"
UNCOUNTED = "Each worker counts for itself, so projects may get more than their limits"


@click.command(cls=Command)
@json_option
@with_appcontext
def check(*, as_json: bool) -> None:
    """Check the settings, the stores and the network, and say what to do."""
    settings = current_app.extensions["settings"]
    rows: list[Row] = []
    for name, look in _checks(settings).items():
        rows.append((name, *_result(name, look, settings, rows)))
    if as_json:
        names = ("check", "status", "message")
        echo_json(dict(zip(names, row, strict=True)) for row in rows)
    else:
        for name, status, message in rows:
            click.echo(f"{name:<11} {status:<8} {message}")
    if any(status == "wrong" for _, status, _ in rows):
        raise click.exceptions.Exit(1)


def _checks(settings: Settings) -> dict[str, Check]:
    """Return the checks of the core, and those of the extensions that are served."""
    found = dict(CHECKS)
    for extension in settings.extensions:
        for name in EXTENSIONS[extension].checks:
            module = import_module(f"petstore.extensions.{extension}.checks")
            found[name] = getattr(module, name)
    return found


def _result(
    name: str, look: Check, settings: Settings, others: Sequence[Row] = ()
) -> Result:
    """Run a check; what is wrong with a store is told once, by its own check."""
    try:
        return look(settings)
    except (*OF_REDIS, *OF_DATABASE) as error:
        store = "redis" if isinstance(error, OF_REDIS) else "database"
        if any((store, "wrong") == other[:2] for other in others):
            return "skipped", f"not looked at, since {store} is wrong"
        if name == store and isinstance(error, NoPermissionError):
            return "skipped", f"not looked at: {in_one_line(error)}"
        fault = error.__context__ if isinstance(error, migrator.NotMigrated) else error
        if not isinstance(fault, (*OF_REDIS, peewee.DatabaseError)):
            return "wrong", str(error)  # which says what to do
        meaning = UNCOUNTED if name in ("redis", "counters") else UNSERVED
        if store == "database" and not db.is_outage(fault):
            meaning = "Requests get a 500"
        return "wrong", _explained(error, meaning)
    except OSError as error:
        return "skipped", f"not looked at: {in_one_line(error)}"


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
        [(number,)] = db.execute_sql("SHOW server_version_num")  # 180001 is 18.1
        if (version := int(number) // 10_000) < OLDEST_POSTGRESQL:
            advice = f"use PostgreSQL {OLDEST_POSTGRESQL} or newer"
            return "wrong", f"{text} is PostgreSQL {version}; {advice}"
        # Quotas, sessions and keys end by its clock, bans by that of this machine.
        [(now_ms,)] = db.execute_sql(f"SELECT {db.now_ms.sql}")
        if fault := _clock_fault(int(now_ms)):
            return "wrong", f"{text} answers, but {fault}"
    Secret.try_database()
    if newer := migrator.newer_version():
        return "warning", f"{newer}; run that version"
    if left := Project.get_or_none(Project.deleted_ms.is_null(False)):
        advice = f"`flask projects delete {left.slug}` goes on"
        return "warning", f"{text} has a project that is partly deleted; {advice}"
    return "ok", f"{text} answers, is migrated and can be written"


def check_connections(settings: Settings) -> Result:
    if db.file:
        return "ok", "none: the data is in SQLite"
    workers, each = settings.workers, timeouts.LIMITS.connections
    [(allowed,)] = db.execute_sql(MOST_CONNECTIONS)
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
    """Count a request of nobody, where the service counts."""
    storage = FallbackRateLimiter(settings.redis_url, settings.workers).open()
    subject = f"{{check:{randomness.source.randrange(256)}}}"
    window = Window.of(STRANGERS.minute, subject)
    decision = AlignedWindowRateLimiter(storage).hit_all([window])
    if settings.redis_url and (fault := _clock_fault(decision.now_ms)):
        return "wrong", f"Redis counts, but {fault}"
    return "ok", "a request was counted"


def _clock_fault(now_ms: int) -> str:
    if (apart_ms := abs(now_ms - clock.now_ms())) <= MAX_CLOCK_MS:
        return ""
    apart = f"its clock and that of this machine are {apart_ms} ms apart"
    return f"{apart}: limits, sessions and bans end too early or late. Let NTP set both"


def check_files(_settings: Settings) -> Result:
    if db.file is None:
        return "ok", "none: the data is in PostgreSQL"
    if not db.file.exists():
        return "skipped", f"not looked at: there is no {db.file}"
    files = map(Path, (f"{db.file}{end}" for end in ("", *SIDE_FILES)))
    if any(file.stat().st_mode & BY_OTHERS for file in files if file.exists()):
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


def check_backup(_settings: Settings) -> Result:
    if (last := Secret.get_or_none(name=LAST_BACKUP)) is None:
        text = "none is known; deploy/backup.sh and `flask data backup` make one"
        return "warning", text
    days = (clock.now_ms() - int(last.text)) / clock.MS_PER_DAY
    text = f"the last one is {days:.1f} days old"
    if days <= MAX_BACKUP_DAYS:
        return "ok", text
    return "warning", f"{text}; the log of deploy/backup.sh says why"


CHECKS: dict[str, Check] = {
    "version": check_version,
    "settings": check_settings,
    "database": check_database,
    "connections": check_connections,
    "redis": check_redis,
    "counters": check_counters,
    "files": check_files,
    "backup": check_backup,
}


def _explained(error: Exception, meaning: str) -> str:
    """Return what is wrong, what it means, and what to do, in one line."""
    text = in_one_line(error).rstrip(".?")
    remedy = next(words for part, words in REMEDIES.items() if re.search(part, text))
    return f"{text}. {meaning}. {remedy}"


def _without_secrets(url: str) -> str:
    return re.sub("://[^/]*@", "://", url.partition("?")[0])
