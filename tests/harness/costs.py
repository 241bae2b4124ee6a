"""Measure what each SQL statement of the service examines, as it runs."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

import asyncpg
import pytest

from petstore.storage.database import counters, db
from petstore.storage.engines.connection import PostgresConnection

MEASURED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
# Any number of values, of a list or of a row.
VALUES = re.compile(r"(\?|\$\d+)(, (\?|\$\d+))*")


class Cost(NamedTuple):
    """A statement, and what it has examined."""

    sql: str
    examined: int  # steps of SQLite's virtual machine; rows and blocks of PostgreSQL

    @property
    def pattern(self) -> str:
        """The statement, however many values it has."""
        return VALUES.sub("?", self.sql)


@contextmanager
def measured() -> Iterator[list[Cost]]:
    """Measure the statements that the block runs in both databases, in order."""
    seen: list[Cost] = []
    with pytest.MonkeyPatch.context() as patch:
        if db.file:
            for database in (db.obj, counters.obj):
                run = partial(_run_on_sqlite, seen, database, database._run)
                patch.setattr(database, "_run", run)
                patch.setattr(database, "run_many", partial(one_by_one, run))
        else:
            for name in ("execute", "fetch", "fetchmany"):
                patch.setattr(PostgresConnection, name, _on_postgresql(seen, name))
        yield seen


def one_by_one(run: Callable, written: Any, many: list[dict[str, Any]]) -> None:
    """Run a statement for each of the values, as SQLite does in one call."""
    for values in many:
        run(written.sql, values)


def _run_on_sqlite(
    seen: list[Cost], database: Any, run: Callable, sql: str, values: Any
) -> Any:
    connection, steps = database.connection(), []
    connection.set_progress_handler(lambda: steps.append(None), 1)
    try:
        return run(sql, values)
    finally:
        connection.set_progress_handler(None, 1)
        if sql.startswith(MEASURED):
            seen.append(Cost(sql, len(steps)))


def _on_postgresql(seen: list[Cost], name: str) -> Callable:
    run = getattr(asyncpg.Connection, name)

    async def run_measured(
        self: PostgresConnection, sql: str, *values: Any, **options: Any
    ) -> Any:
        if sql.startswith(MEASURED):
            for each in values[0] if name == "fetchmany" else [values]:
                seen.append(Cost(sql, await _examined(self, sql, each)))
        return await run(self, sql, *values, **options)

    return run_measured


async def _examined(connection: PostgresConnection, sql: str, values: Any) -> int:
    """Run a statement only to measure it: what it writes is undone."""
    execute = partial(asyncpg.Connection.execute, connection)
    in_transaction = connection.is_in_transaction()
    await execute("SAVEPOINT measured" if in_transaction else "BEGIN")
    # It would read a whole table of this size rather than a hundred rows by an index.
    await execute("SET LOCAL enable_seqscan = off")
    try:
        # What breaks a constraint raises its error when it is run for good.
        with suppress(asyncpg.IntegrityConstraintViolationError):
            [(plans,)] = await asyncpg.Connection.fetch(
                connection, f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", *values
            )
            plan = json.loads(plans)[0]["Plan"]
            blocks = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
            return _rows(plan) + blocks
        return 0
    finally:
        await execute("ROLLBACK TO measured" if in_transaction else "ROLLBACK")


def _rows(plan: dict[str, Any]) -> int:
    """Return the rows that the nodes of a plan have read, kept or not."""
    read = plan["Actual Rows"] + sum(
        count for name, count in plan.items() if name.startswith("Rows Removed by")
    )
    return int(read * plan["Actual Loops"]) + sum(map(_rows, plan.get("Plans", [])))
