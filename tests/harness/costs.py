"""Measure what each SQL statement of the service examines, as it runs."""

import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from petstore.storage import counters, db

MEASURED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
# Any number of values, of a list or of a row.
VALUES = re.compile(r"(\?|%s)(, (\?|%s))*")


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

    def measure(database: Any, sql: str, values: Any, run: Callable) -> Any:
        if not sql.startswith(MEASURED):
            return run()
        count = _steps if database.file else _examined
        result, examined = count(database.connection(), sql, values, run)
        seen.append(Cost(sql, examined))
        return result

    with watched(measure):
        yield seen


@contextmanager
def watched(watch: Callable[[Any, str, Any, Callable], Any]) -> Iterator[None]:
    """Have `watch` run each statement of both databases, and return its result."""
    with pytest.MonkeyPatch.context() as patch:
        for database in {db.obj, counters.obj}:
            fetch, execute = database._fetch_once, database.execute_sql

            def watched_fetch(
                connection: Any, written: Any, values: Any, database=database, run=fetch
            ) -> Any:
                if values is None:  # BEGIN, COMMIT or ROLLBACK
                    return run(connection, written, values)
                call = partial(run, connection, written, values)
                return watch(database, written.sql, values, call)

            def watched_execute(
                sql: str, params: Any = None, database=database, run=execute
            ) -> Any:
                return watch(database, sql, params, partial(run, sql, params))

            patch.setattr(database, "_fetch_once", watched_fetch)
            patch.setattr(database, "execute_sql", watched_execute)
        yield


class Rows(deque):
    """The rows of a statement that has ended, in place of its cursor."""

    def __init__(self, cursor: Any) -> None:
        super().__init__(cursor.fetchall())
        self.description, self.rowcount = cursor.description, cursor.rowcount

    def fetchone(self) -> Any:
        return self.popleft() if self else None

    def fetchall(self) -> list[Any]:
        return list(self)

    close = deque.clear


def _steps(connection: Any, _sql: str, _values: Any, run: Callable) -> tuple[Any, int]:
    steps: list[None] = []
    connection.set_progress_handler(lambda: steps.append(None), 1)
    try:
        result = run()
        has_rows = not isinstance(result, list) and result.description
        rows = Rows(result) if has_rows else result
    finally:
        connection.set_progress_handler(None, 1)
    return rows, len(steps)


def _examined(
    connection: psycopg.Connection, sql: str, values: Any, run: Callable
) -> tuple[Any, int]:
    """Run a statement twice: first only to measure it, so what it writes is undone."""
    is_inside = connection.info.transaction_status == TransactionStatus.INTRANS
    begin = "SAVEPOINT measured" if is_inside else "BEGIN"
    # It would read a whole table of this size rather than a hundred rows by an index.
    connection.execute(f"{begin}; SET LOCAL enable_seqscan = off", prepare=False)
    examined = 0
    # What breaks a constraint raises its error when it is run for good.
    with suppress(psycopg.IntegrityError):
        explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}"
        [(plans,)] = connection.execute(explain, values or None).fetchall()
        plan = plans[0]["Plan"]
        examined = _rows(plan) + plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    connection.execute("ROLLBACK TO measured" if is_inside else "ROLLBACK")
    return run(), examined


def _rows(plan: dict[str, Any]) -> int:
    """Return the rows that the nodes of a plan have read, kept or not."""
    read = plan["Actual Rows"] + sum(
        count for name, count in plan.items() if name.startswith("Rows Removed by")
    )
    return int(read * plan["Actual Loops"]) + sum(map(_rows, plan.get("Plans", [])))
