"""Queries whose SQL is built once and then run with new values each time.

Letting Peewee build the SQL again would cost more than running it costs in SQLite.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from peewee import ColumnBase, Context, DatabaseProxy, Query, Select

from petstore.storage.engine import Row, Written


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

    def autocommit(self, **values: Any) -> list[Row]:
        """Run a query with `autocommit` of the engine, and return all rows."""
        database = self._database.obj
        written = self._written.get(type(database)) or self._write(database)
        rows: list[Row] = database.autocommit(written, values)
        return rows

    def run_many(self, many: Iterable[dict[str, Any]]) -> None:
        """Run a query that writes for each of the values, in a transaction."""
        database = self._database.obj
        written = self._written.get(type(database)) or self._write(database)
        database.run_many(written, list(many))

    def _write(self, database: Any) -> Written:
        query = self._build()
        # Constants become literals. It is not documented; see docs/architecture.md.
        context = database.get_sql_context(
            value_literals=True, placeholder=database.placeholder
        )
        sql, _ = context.parse(query)
        is_read = isinstance(query, Select)
        written = self._written[type(database)] = Written(
            sql, is_read, has_rows=is_read or "RETURNING" in sql
        )
        return written


def statement(
    database: DatabaseProxy,
) -> Callable[[Callable[[], Query]], Statement]:
    """Make the decorated function, which builds a query, a `Statement`."""
    return partial(Statement, database)
