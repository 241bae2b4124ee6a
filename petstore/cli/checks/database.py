"""Checks of the database: whether it answers, its clock, and its files."""

import peewee

from petstore import clock
from petstore.cli.checks.results import Result
from petstore.cli.checks.settings import url_text
from petstore.cli.commands import in_one_line
from petstore.models.projects import Project
from petstore.settings import Settings
from petstore.storage import db, migrator

OLDEST_POSTGRESQL = 14
MAX_DIFFERENCE_MS = 2 * clock.MS_PER_SECOND


def check_database(settings: Settings) -> Result:
    """Check that it answers, that its version is supported, and that it is migrated."""
    text = url_text(settings.database_url)
    if db.file and not db.file.exists():
        # Opening it would create it.
        return "wrong", f"{text} does not exist; run `flask migrate`"
    try:
        migrator.require_migrated()
        return _check_version(text)
    except migrator.NotMigrated as error:
        return "wrong", str(error)
    except peewee.DatabaseError as error:
        return "wrong", f"{text} does not answer: {in_one_line(error)}"


def _check_version(text: str) -> Result:
    version = None if db.file else db.version()
    if version and version < OLDEST_POSTGRESQL:
        advice = f"use PostgreSQL {OLDEST_POSTGRESQL} or newer"
        return "wrong", f"{text} is PostgreSQL {version}; {advice}"
    if newer := migrator.newer_version():
        return "warning", f"{newer}; run that version"
    if left := Project.all_being_deleted():
        advice = f"`flask projects delete {left[0].slug}` goes on"
        return "warning", f"{text} has a project that is partly deleted; {advice}"
    engine = f"PostgreSQL {version}" if version else "SQLite"
    return "ok", f"{text} answers ({engine}) and is migrated"


def check_clock(_settings: Settings) -> Result:
    """Compare the clock of the database with the clock of this machine.

    Quotas go by the one, the expiry of keys and bans by the other.
    """
    if db.file:
        return "ok", "SQLite goes by the clock of this machine"
    try:
        difference = _difference_ms()
    except peewee.DatabaseError:
        return "warning", "unknown while the database does not answer"
    apart = (
        f"the clocks of PostgreSQL and of this machine are {abs(difference)} ms apart"
    )
    if abs(difference) > MAX_DIFFERENCE_MS:
        return "wrong", f"{apart}; let NTP set both"
    return "ok", apart


def _difference_ms() -> int:
    db.server_now_ms()  # connecting must not count
    before = clock.now_ms()
    server_ms: int = db.server_now_ms()
    return server_ms - (before + clock.now_ms()) // 2


def check_files(_settings: Settings) -> Result:
    """Check that only their owner may read the files of SQLite."""
    if db.file is None:
        return "ok", "none: the data is in PostgreSQL"
    if db.is_readable_by_others():
        return "wrong", (
            f"{db.file} can be read by other users of this machine, and it holds "
            "the secret that signs sessions unless SECRET_KEY is set. "
            f"Close it: chmod go= {db.file}*"
        )
    return "ok", f"only its owner can read {db.file}"
