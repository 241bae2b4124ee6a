"""Record the SQL statements of the service, with their plans and costs."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import pytest

from petstore.storage.database import counters, db
from tests.harness.costs import one_by_one

TABLE = re.compile(r'(?:FROM|INTO|JOIN|UPDATE) "(\w+)"')


class Statement(NamedTuple):
    """An SQL statement with its parameters."""

    sql: str
    values: Any

    @property
    def gist(self) -> str:
        """The verb and the tables, such as `SELECT pet`."""
        return " ".join([self.sql.split()[0], *TABLE.findall(self.sql)])

    def plan(self) -> str:
        """Return the query plan, one step per line."""
        explain = "EXPLAIN QUERY PLAN" if db.file else "EXPLAIN"
        rows = db.execute_sql(f"{explain} {self.sql}", self.values).fetchall()
        return "\n".join(str(row[-1]) for row in rows)

    def cost(self) -> int:
        """Return SQLite's virtual machine steps, or PostgreSQL's block accesses."""
        if db.file:
            return self._steps()
        explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {self.sql}"
        [(plans,)] = db.execute_sql(explain, self.values).fetchall()
        plan = (plans if isinstance(plans, list) else json.loads(plans))[0]["Plan"]
        return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]

    def _steps(self) -> int:
        steps: list[None] = []
        db.connection().set_progress_handler(lambda: steps.append(None), 1)
        db.execute_sql(self.sql, self.values).fetchall()
        db.connection().set_progress_handler(None, 1)
        return len(steps)


@contextmanager
def recorded() -> Iterator[list[Statement]]:
    """Record the statements that the block runs in both databases, in order."""
    seen: list[Statement] = []

    def record(run: Callable, sql: str, values: Any) -> Any:
        seen.append(Statement(sql, values))
        return run(sql, values)

    def record_many(
        run: Callable, connection: Any, written: Any, many: list, *limits: Any
    ) -> Any:
        for values in many:
            parameters = written.in_order(values | {"lock_timeout": None})
            seen.append(Statement(written.sql, parameters))
        return run(connection, written, many, *limits)

    with pytest.MonkeyPatch.context() as patch:
        for database in {db.obj, counters.obj}:
            patch.setattr(database, "_run", partial(record, database._run))
            if database.file:
                run = partial(record, database._run)
                patch.setattr(database, "run_many", partial(one_by_one, run))
        if counters.obj is db.obj:  # SQLite runs such a statement like the others
            run = partial(record_many, db.obj._autocommit_many)
            patch.setattr(db.obj, "_autocommit_many", run)
        yield seen
