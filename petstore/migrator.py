"""Brings both databases to the present schema, one locked step at a time."""

from pathlib import Path
from typing import NamedTuple

import peewee
from peewee import Database
from playhouse.migrations import Runner

from petstore.database import Databases, counters, data, is_sqlite

# Any fixed number: it keeps `flask migrate` apart from itself, on PostgreSQL.
MIGRATION_LOCK = -1

_DIRECTORY = Path(__file__).parent / "migrations"


class NotMigrated(Exception):
    """The database is older than the code, or cannot be opened at all."""


class Schema(NamedTuple):
    """A database, where its steps are, and the table of those that were applied."""

    database: Database
    directory: Path
    history: str

    @property
    def runner(self) -> Runner:
        """What applies the steps."""
        return Runner(self.database, str(self.directory), table_name=self.history)


def migrate(databases: Databases | None = None) -> list[str]:
    """Apply what is pending, each step in a transaction; the names of the steps.

    Any number may run at once: each step is planned and applied under one lock.
    """
    return [step for schema in _schemas(databases) for step in _bring_up(schema)]


def require_migrated() -> None:
    """Raise `NotMigrated`, with a line for the operator, unless all is applied."""
    for schema in _schemas(None):
        try:
            pending = _pending(schema.runner)
        except peewee.DatabaseError as error:
            reason = " ".join(str(error).split())
            raise NotMigrated(
                f"DATABASE_URL: cannot open {_name_of(schema.database)}: {reason}"
            ) from None
        if pending:
            raise NotMigrated(
                f"the database is not migrated ({pending[0]} is pending); "
                "run `flask migrate` first"
            )


def unknown_steps(databases: Databases) -> list[str]:
    """What a newer version of the service has applied."""
    return [
        step.name
        for schema in _schemas(databases)
        for step in schema.runner.status()
        if step.path is None
    ]


def _schemas(databases: Databases | None) -> list[Schema]:
    databases = databases or Databases(data.obj, counters.obj)
    return [
        Schema(databases.data, _DIRECTORY, "migration"),
        Schema(databases.counters, _DIRECTORY / "counters", "counter_migration"),
    ]


def _name_of(database: Database) -> str:
    # The address of a server may hold a password; a path does not.
    return database.database if is_sqlite(database) else "the database"


def _bring_up(schema: Schema) -> list[str]:
    runner = schema.runner
    applied = []
    while step := _apply_next(schema.database, runner):
        applied.append(step)
    return applied


def _apply_next(database: Database, runner: Runner) -> str | None:
    with database.atomic():
        database.lock_until_commit(MIGRATION_LOCK)
        pending = _pending(runner)
        if not pending:
            return None
        runner.up(pending[0])
        return pending[0]


def _pending(runner: Runner) -> list[str]:
    return [step.name for step in runner.status() if not step.applied]
