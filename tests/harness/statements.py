"""Record the SQL statements of the service, with their plans."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from petstore.storage import db
from tests.harness.costs import watched

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


@contextmanager
def recorded() -> Iterator[list[Statement]]:
    """Record the statements that the block runs in both databases, in order."""
    seen: list[Statement] = []

    def record(_database: Any, sql: str, values: Any, run: Callable) -> Any:
        seen.append(Statement(sql, values))
        return run()

    with watched(record):
        yield seen
