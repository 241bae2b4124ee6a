"""Queries whose SQL is built once and then run with new values each time.

Letting Peewee build the SQL again would cost more than running it costs in SQLite.
"""

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any, NamedTuple

from peewee import ColumnBase, Context, DatabaseProxy, Query

Row = tuple[Any, ...]


class Slot(ColumnBase):
    """A placeholder in a query, for the value that a statement gets by its name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __sql__(self, context: Context) -> Context:
        """Write the placeholder as the engine has it."""
        return context.literal(context.state.placeholder(self._name))


def slot(name: str) -> Slot:
    """Return a placeholder for the value with that name."""
    return Slot(name)


class Written(NamedTuple):
    """The SQL of a query, and the names of its slots where they are numbered."""

    sql: str
    names: tuple[str, ...]

    def in_order(self, values: dict[str, Any]) -> list[Any]:
        """Return the values of the slots, in the order of their numbers."""
        return [values[name] for name in self.names]


class Statement:
    """A query, called with a keyword argument for each slot."""

    def __init__(self, database: DatabaseProxy, build: Callable[[], Query]) -> None:
        self._database = database
        self._build = build
        self._written: dict[type, Written] = {}

    def __call__(self, **values: Any) -> list[Row]:
        """Run the query and return all rows."""
        database = self._database.obj
        written = self._written.get(type(database)) or self._write(database)
        rows: list[Row] = database.fetch(written, values)
        return rows

    def autocommit(self, key: Hashable, /, **values: Any) -> list[Row]:
        """Run a query with `autocommit` of the database, and return all rows.

        On PostgreSQL, a pool runs at most `LIMITS.writes` for one key at a time.
        """
        database = self._database.obj
        written = self._written.get(type(database)) or self._write(database)
        rows: list[Row] = database.autocommit(key, written, values)
        return rows

    def insert(self, key: Hashable, /, **values: Any) -> int:
        """Insert at most one row, like `autocommit`; return its id, 0 without a row."""
        database = self._database.obj
        written = self._written.get(type(database)) or self._write(database)
        row_id: int = database.insert(key, written, values)
        return row_id

    def run_many(self, many: Iterable[dict[str, Any]]) -> None:
        """Run a query that writes for each of the values, in a transaction."""
        database = self._database.obj
        written = self._written.get(type(database)) or self._write(database)
        database.run_many(written, list(many))

    def _write(self, database: Any) -> Written:
        numbers: dict[str, int] = {}
        # Constants become literals. It is not documented; see docs/architecture.md.
        context = database.get_sql_context(
            value_literals=True, placeholder=partial(database.placeholder, numbers)
        )
        sql, _ = context.parse(self._build())
        written = self._written[type(database)] = Written(sql, tuple(numbers))
        return written


def statement(
    database: DatabaseProxy,
) -> Callable[[Callable[[], Query]], Statement]:
    """Make the decorated function, which builds a query, a `Statement`."""
    return partial(Statement, database)
