"""Migrates both databases to the current schema, one step at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import peewee
from playhouse.migrations import Migration, MigrationError, Runner

from petstore.storage.database import Databases, Engine, opened_databases

# Any fixed number: on PostgreSQL it lets one `flask migrate` record a step at a time.
MIGRATION_LOCK = -1
# Names that release 1.4.0 has recorded, with the names that they have now.
RENAMED = {"0050_imports": "0050_tables"}

_DIRECTORY = Path(__file__).parent / "migrations"


class NotMigrated(Exception):
    """The database is older than the code, or cannot be opened or used."""


class KnowingRunner(Runner):
    """Peewee's runner, which also knows migrations by their former names."""

    def applied(self) -> dict[str, Any]:
        recorded = super().applied().items()
        return {RENAMED.get(name, name): at for name, at in recorded}


def migrate(databases: Databases | None = None) -> Iterator[str]:
    """Apply one pending migration after the other; yield the name of each.

    Any number of processes may do so at once: each step is recorded under a lock.
    """
    for database, runner in runners(databases):
        database.create()
        while pending := _pending(runner):
            if _apply(database, runner, pending[0]):
                yield pending[0].name


def require_migrated() -> None:
    """Raise `NotMigrated`, with a line for the operator, if a migration is pending."""
    for database, runner in runners(None):
        try:
            pending = _pending(runner)
        except peewee.DatabaseError as error:
            reason = " ".join(str(error).partition("\nLINE ")[0].split())
            # The URL of a server may contain a password, a path does not.
            name = database.file or "the database"
            raise NotMigrated(f"DATABASE_URL: cannot open {name}: {reason}") from None
        if pending:
            raise NotMigrated(
                f"the database is not migrated ({pending[0].name} is pending); "
                "run `flask migrate` first"
            )


def newer_version() -> str | None:
    """Return a sentence if a newer version of the service has migrated the database."""
    unknown = [
        step.name
        for _, runner in runners(None)
        for step in runner.status()
        if step.idx > runner.migrations()[-1].idx
    ]
    by = "the database was migrated by a newer version of the service"
    return f"{by} ({unknown[-1]})" if unknown else None


def runners(databases: Databases | None) -> Iterator[tuple[Engine, Runner]]:
    """Yield each database with Peewee's runner for its migrations."""
    db, counters = databases or opened_databases()
    yield db, KnowingRunner(db, str(_DIRECTORY), table_name="migration")
    directory = str(_DIRECTORY / "counters")
    yield counters, KnowingRunner(counters, directory, table_name="counter_migration")


def _apply(database: Engine, runner: Runner, step: Migration) -> bool:
    """Apply a step in a transaction; return whether no other process has done so.

    A step locks at most one table for writers, since two would be a deadlock with
    requests that use both.
    """
    with database.atomic():
        database.lock_until_commit(MIGRATION_LOCK)
        is_pending = step in _pending(runner)
        if is_pending:
            try:
                runner.up(step.name)
            except MigrationError as error:
                raise NotMigrated(str(error)) from None
    return is_pending


def _pending(runner: Runner) -> list[Migration]:
    if fault := runner.database.fault():
        raise NotMigrated(f"DATABASE_URL: {fault}")
    steps = runner.status()
    first = next(step for step in steps if step.path)
    if not first.applied and any(step.applied for step in steps):
        raise NotMigrated(
            "the database is of a release before 1.4.0; upgrade it to 1.4.0 first"
        )
    return [step for step in steps if not step.applied]
