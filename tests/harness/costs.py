"""Measure what each SQL statement of the service examines, as it runs."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

import peewee
import pytest

from petstore.storage.database import counters, data

MEASURED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")


class Cost(NamedTuple):
    """A statement, and what it has examined."""

    sql: str
    examined: int  # steps of SQLite's virtual machine; rows and blocks of PostgreSQL


class _Undone(Exception):
    """Ends the transaction of a statement that was run only to be measured."""


@contextmanager
def measured() -> Iterator[list[Cost]]:
    """Measure the statements that the block runs in both databases, in order."""
    seen: list[Cost] = []
    with pytest.MonkeyPatch.context() as patch:
        for database in {data.obj, counters.obj}:
            examine = _examine_on_sqlite if database.file else _examine_on_postgresql
            run = partial(_measure, seen, partial(examine, database), database._run)
            patch.setattr(database, "_run", run)
        if counters.obj is data.obj:  # SQLite runs such a statement like the others
            patch.setattr(counters.obj, "write_at_once", _write_measured)
        yield seen


def _measure(
    seen: list[Cost], examine: Callable, run: Callable, sql: str, values: Any
) -> Any:
    if not sql.startswith(MEASURED):
        return run(sql, values)
    rows, examined = examine(run, sql, values)
    seen.append(Cost(sql, examined))
    return rows


def _write_measured(_key: object, sql: str, values: dict[str, Any]) -> list:
    return data.fetch(sql, values | {"lock_timeout": "2s"})


def _examine_on_sqlite(
    database: Any, run: Callable, sql: str, values: Any
) -> tuple[Any, int]:
    connection, steps = database.connection(), []
    connection.set_progress_handler(lambda: steps.append(None), 1)
    try:
        return run(sql, values), len(steps)
    finally:
        connection.set_progress_handler(None, 1)


def _examine_on_postgresql(
    database: Any, run: Callable, sql: str, values: Any
) -> tuple[Any, int]:
    explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}"
    examined = 0
    # What breaks a constraint raises its error when it is run for good.
    with suppress(_Undone, peewee.IntegrityError), database.atomic():
        [(plans,)] = run(explain, values).fetchall()
        plan = (plans if isinstance(plans, list) else json.loads(plans))[0]["Plan"]
        examined = _rows(plan) + plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        raise _Undone
    return run(sql, values), examined


def _rows(plan: dict[str, Any]) -> int:
    """Return the rows that the nodes of a plan have read, kept or not."""
    read = plan["Actual Rows"] + sum(
        count for name, count in plan.items() if name.startswith("Rows Removed by")
    )
    return int(read * plan["Actual Loops"]) + sum(map(_rows, plan.get("Plans", [])))
