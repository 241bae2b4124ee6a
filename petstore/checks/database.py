"""Whether the database is reached, and migrated by this version."""

import os

import peewee

from petstore.checks.findings import Finding
from petstore.checks.understood import database_text
from petstore.database import Databases, counters, data, is_sqlite
from petstore.migrator import NotMigrated, require_migrated, unknown_steps
from petstore.settings import Settings

CHECK = "database"
OLDEST_POSTGRESQL = 14
_VERSION_UNIT = 10_000  # server_version_num: 180001 is 18.1


def check(settings: Settings) -> Finding:
    """It answers, its version is supported, and nothing is left to apply."""
    where = database_text(settings.database_url)
    if is_sqlite(data.obj) and not os.path.exists(data.database):
        # To open it would make it.
        return Finding.wrong(CHECK, f"{where} does not exist; run `flask migrate`")
    try:
        require_migrated()
        return _judged(where)
    except NotMigrated as refusal:
        return Finding.wrong(CHECK, str(refusal))
    except peewee.DatabaseError as error:
        reason = " ".join(str(error).split())
        return Finding.wrong(CHECK, f"{where} does not answer: {reason}")


def _judged(where: str) -> Finding:
    version = None if is_sqlite(data.obj) else _postgresql_version()
    if version and version < OLDEST_POSTGRESQL:
        return Finding.wrong(
            CHECK,
            f"{where} is PostgreSQL {version}; "
            f"use PostgreSQL {OLDEST_POSTGRESQL} or newer",
        )
    if unknown := unknown_steps(Databases(data.obj, counters.obj)):
        return Finding.warning(
            CHECK,
            f"{where} was migrated by a newer version of the service "
            f"({unknown[-1]}); run that version",
        )
    name = f"PostgreSQL {version}" if version else "SQLite"
    return Finding.ok(CHECK, f"{where} answers ({name}) and is migrated")


def _postgresql_version() -> int:
    [number] = data.execute_sql("SHOW server_version_num").fetchone()
    return int(number) // _VERSION_UNIT
