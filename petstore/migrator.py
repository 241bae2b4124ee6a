"""Brings both databases to the present schema, one locked step at a time."""

from pathlib import Path

import peewee
from peewee import DatabaseProxy
from playhouse.migrations import Runner

from petstore.database import counters, data

# Any fixed number: it keeps `flask migrate` apart from itself, on PostgreSQL.
MIGRATION_LOCK = -1

_DIRECTORY = Path(__file__).parent / "migrations"


class NotMigrated(Exception):
    """The database is older than the code, or cannot be opened at all."""


def migrate() -> list[str]:
    """Apply what is pending, each step in a transaction; the names of the steps.

    Any number may run at once: each step is planned and applied under one lock.
    """
    return _bring_up(data, _DIRECTORY, "migration") + _bring_up(
        counters, _DIRECTORY / "counters", "counter_migration"
    )


def require_migrated() -> None:
    """Raise `NotMigrated`, with a line for the operator, unless all is applied."""
    try:
        pending = [
            *_pending(_runner(data, _DIRECTORY, "migration")),
            *_pending(_runner(counters, _DIRECTORY / "counters", "counter_migration")),
        ]
    except peewee.DatabaseError as error:
        reason = " ".join(str(error).split())
        raise NotMigrated(f"DATABASE_URL: cannot open the database: {reason}") from None
    if pending:
        raise NotMigrated(
            f"the database is not migrated ({pending[0]} is pending); "
            "run `flask migrate` first"
        )


def _bring_up(database: DatabaseProxy, directory: Path, history: str) -> list[str]:
    runner = _runner(database, directory, history)
    applied = []
    while step := _apply_next(database, runner):
        applied.append(step)
    return applied


def _apply_next(database: DatabaseProxy, runner: Runner) -> str | None:
    with database.atomic():
        database.lock_until_commit(MIGRATION_LOCK)
        pending = _pending(runner)
        if not pending:
            return None
        runner.up(pending[0])
        return pending[0]


def _pending(runner: Runner) -> list[str]:
    return [step.name for step in runner.status() if not step.applied]


def _runner(database: DatabaseProxy, directory: Path, history: str) -> Runner:
    return Runner(database.obj, str(directory), table_name=history)
