"""Checks of the database: whether it answers, its clock, and its files."""

import os

import peewee
from peewee import Select

from petstore import clock
from petstore.checks.results import CheckResult
from petstore.checks.settings import database_text
from petstore.database import data, is_sqlite, opened_databases
from petstore.engines.files import is_readable_by_others
from petstore.migrator import NotMigrated, require_migrated, unknown_steps
from petstore.settings import Settings

OLDEST_POSTGRESQL = 14
MAX_DIFFERENCE_MS = 2 * clock.MS_PER_SECOND
_VERSION_UNIT = 10_000  # server_version_num: 180001 is 18.1


def check_database(settings: Settings) -> CheckResult:
    """Check that it answers, that its version is supported, and that it is migrated."""
    name = "database"
    text = database_text(settings.database_url)
    if is_sqlite(data.obj) and not os.path.exists(data.database):
        # Opening it would create it.
        return CheckResult.wrong(name, f"{text} does not exist; run `flask migrate`")
    try:
        require_migrated()
        return _check_version(name, text)
    except NotMigrated as error:
        return CheckResult.wrong(name, str(error))
    except peewee.DatabaseError as error:
        reason = " ".join(str(error).split())
        return CheckResult.wrong(name, f"{text} does not answer: {reason}")


def _check_version(name: str, text: str) -> CheckResult:
    version = None if is_sqlite(data.obj) else _postgresql_version()
    if version and version < OLDEST_POSTGRESQL:
        return CheckResult.wrong(
            name,
            f"{text} is PostgreSQL {version}; "
            f"use PostgreSQL {OLDEST_POSTGRESQL} or newer",
        )
    if unknown := unknown_steps(opened_databases()):
        return CheckResult.warning(
            name,
            f"{text} was migrated by a newer version of the service "
            f"({unknown[-1]}); run that version",
        )
    engine = f"PostgreSQL {version}" if version else "SQLite"
    return CheckResult.ok(name, f"{text} answers ({engine}) and is migrated")


def _postgresql_version() -> int:
    [number] = data.execute_sql("SHOW server_version_num").fetchone()
    return int(number) // _VERSION_UNIT


def check_clock(_settings: Settings) -> CheckResult:
    """Compare the clock of the database with the clock of this machine.

    Quotas go by the one, the expiry of keys and bans by the other.
    """
    name = "clock"
    if is_sqlite(data.obj):
        return CheckResult.ok(name, "SQLite goes by the clock of this machine")
    try:
        difference = _difference_ms()
    except peewee.DatabaseError:
        return CheckResult.warning(name, "unknown while the database does not answer")
    apart = (
        f"the clocks of PostgreSQL and of this machine are {abs(difference)} ms apart"
    )
    if abs(difference) > MAX_DIFFERENCE_MS:
        return CheckResult.wrong(name, f"{apart}; let NTP set both")
    return CheckResult.ok(name, apart)


def _difference_ms() -> int:
    data.execute_sql("SELECT 1")  # connecting must not count
    before = clock.now_ms()
    [server_ms] = data.execute(Select(columns=[data.now_ms])).fetchone()
    return int(server_ms) - (before + clock.now_ms()) // 2


def check_files(_settings: Settings) -> CheckResult:
    """Check that only their owner may read the files of SQLite."""
    name = "files"
    if not is_sqlite(data.obj):
        return CheckResult.ok(name, "none: the data is in PostgreSQL")
    if is_readable_by_others(data.database):
        return CheckResult.wrong(
            name,
            f"{data.database} can be read by other users of this machine, and it holds "
            "the secret that signs sessions unless SECRET_KEY is set. "
            f"Close it: chmod go= {data.database}*",
        )
    return CheckResult.ok(name, f"only its owner can read {data.database}")
