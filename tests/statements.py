"""What the service asks of its databases, and how they find it."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from peewee import QueryEvent

from petstore.database import counters, data, is_sqlite

TABLE = re.compile(r'(?:FROM|INTO|JOIN|UPDATE) "(\w+)"')


class Statement(NamedTuple):
    """A statement with its values."""

    sql: str
    values: Any

    @property
    def gist(self) -> str:
        """Its verb and its tables."""
        return " ".join([self.sql.split()[0], *TABLE.findall(self.sql)])

    def plan(self) -> str:
        """How the engine would find the rows, a line for each step."""
        explain = "EXPLAIN QUERY PLAN" if is_sqlite(data.obj) else "EXPLAIN"
        rows = data.execute_sql(f"{explain} {self.sql}", self.values).fetchall()
        return "\n".join(str(row[-1]) for row in rows)

    def cost(self) -> int:
        """The steps of SQLite's machine, or the blocks that PostgreSQL looks into."""
        if is_sqlite(data.obj):
            return self._steps()
        explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {self.sql}"
        [(plans,)] = data.execute_sql(explain, self.values).fetchall()
        plan = (plans if isinstance(plans, list) else json.loads(plans))[0]["Plan"]
        return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]

    def _steps(self) -> int:
        steps: list[None] = []
        data.connection().set_progress_handler(lambda: steps.append(None), 1)
        data.execute_sql(self.sql, self.values).fetchall()
        data.connection().set_progress_handler(None, 1)
        return len(steps)


@contextmanager
def recorded() -> Iterator[list[Statement]]:
    """The statements of the block, in both databases, in their order."""
    seen: list[Statement] = []

    def record(event: QueryEvent) -> None:
        seen.append(Statement(event.sql, event.params))

    databases = {data.obj, counters.obj}
    for database in databases:
        database.query_hooks.append(record)
    try:
        yield seen
    finally:
        for database in databases:
            database.query_hooks.remove(record)
