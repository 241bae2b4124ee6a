"""Migrates both databases to the current schema, one locked step at a time."""

from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path

import peewee
from playhouse.migrations import Runner

from petstore.storage.database import Databases, Engine, opened_databases

# Any fixed number: on PostgreSQL it lets one `flask migrate` run at a time.
MIGRATION_LOCK = -1

_DIRECTORY = Path(__file__).parent / "migrations"


class NotMigrated(Exception):
    """The database is older than the code, or cannot be opened or used."""


def migrate(databases: Databases | None = None) -> list[str]:
    return list(migrate_in_steps(databases))


def migrate_in_steps(databases: Databases | None = None) -> Iterator[str]:
    """Apply one pending migration after the other; yield the name of each.

    Each has a transaction of its own. Any number of processes may do so at once: each
    step is chosen under a lock.
    """
    for database, runner in _runners(databases):
        database.create()
        while step := _apply_next(database, runner):
            yield step


def require_migrated() -> None:
    """Raise `NotMigrated`, with a line for the operator, if a migration is pending."""
    for database, runner in _runners(None):
        try:
            pending = _pending(runner)
        except peewee.DatabaseError as error:
            reason = " ".join(str(error).split())
            # The URL of a server may contain a password, a path does not.
            name = database.file or "the database"
            raise NotMigrated(f"DATABASE_URL: cannot open {name}: {reason}") from None
        if pending:
            raise NotMigrated(
                f"the database is not migrated ({pending[0]} is pending); "
                "run `flask migrate` first"
            )


def newer_version() -> str | None:
    """Return a sentence if a newer version of the service has migrated the database."""
    unknown = unknown_steps(opened_databases())
    by = "the database was migrated by a newer version of the service"
    return f"{by} ({unknown[-1]})" if unknown else None


def unknown_steps(databases: Databases) -> list[str]:
    """Return the migrations that a newer version of the service has applied."""
    return [
        step.name
        for _, runner in _runners(databases)
        # The steps before the first one are those of releases before.
        for step in dropwhile(lambda step: not step.path, runner.status())
        if step.path is None
    ]


def _runners(databases: Databases | None) -> Iterator[tuple[Engine, Runner]]:
    """Yield each database with Peewee's runner for its migrations."""
    db, counters = databases or opened_databases()
    yield db, Runner(db, str(_DIRECTORY), table_name="migration")
    directory = str(_DIRECTORY / "counters")
    yield counters, Runner(counters, directory, table_name="counter_migration")


def _apply_next(database: Engine, runner: Runner) -> str | None:
    with database.atomic():
        database.lock_until_commit(MIGRATION_LOCK)
        pending = _pending(runner)
        if not pending:
            return None
        runner.up(pending[0])
        return pending[0]


def _pending(runner: Runner) -> list[str]:
    if fault := runner.database.fault():
        raise NotMigrated(f"DATABASE_URL: {fault}")
    steps = runner.status()
    first = next(step for step in steps if step.path)
    older = [step.name for step in steps if step < first]
    if older and not first.applied:
        raise NotMigrated(
            f"the database is of a release before 1.1.0 ({older[-1]}); "
            "run `flask migrate` of release 1.1.0 first"
        )
    return [step.name for step in steps if not step.applied]
