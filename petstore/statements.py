"""Queries that Peewee writes once, run from then on with new values."""

from collections.abc import Callable
from typing import Any

from peewee import DatabaseProxy, Query, Value


class _Slot(str):
    """The name of a value that is given at each run."""


def slot(name: str) -> Value:
    """A place in a query for the value of that name."""
    return Value(_Slot(name), unpack=False)


class Statement:
    """A query of one database that returns rows."""

    def __init__(self, database: DatabaseProxy, write: Callable[[], Query]) -> None:
        self._database = database
        self._write = write
        self._written: dict[type, _Written] = {}

    def __call__(self, **values: Any) -> list[tuple]:
        """Run it with a value for each slot; all rows, as tuples."""
        database = self._database.obj
        written = self._written.get(type(database))
        if written is None:
            written = self._written[type(database)] = _Written(*self._write().sql())
        if written.constants:
            values |= written.constants
        parameters = [values[name] for name in written.names]
        return database.execute_sql(written.sql, parameters).fetchall()


class _Written:
    """SQL, the names of its parameters, and the values of those that never change."""

    def __init__(self, sql: str, parameters: list[Any]) -> None:
        self.sql = sql
        self.constants = {
            f"constant {place}": value
            for place, value in enumerate(parameters)
            if type(value) is not _Slot
        }
        self.names = [
            value if type(value) is _Slot else f"constant {place}"
            for place, value in enumerate(parameters)
        ]


def statement(database: DatabaseProxy) -> Callable[[Callable[[], Query]], Statement]:
    """Make the decorated function, which builds a query, a `Statement`."""
    return lambda write: Statement(database, write)
