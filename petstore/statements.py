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
    """A query of one database that returns rows.

    A timely one writes on PostgreSQL, and nothing once the slot `deadline` has passed:
    it needs no transaction to be undone when its client has given up.
    """

    def __init__(
        self,
        database: DatabaseProxy,
        write: Callable[[], Query],
        *,
        is_timely: bool = False,
    ) -> None:
        self._database = database
        self._write = write
        self._is_timely = is_timely
        self._written: dict[type, _Written] = {}

    def __call__(self, **values: Any) -> list[tuple[Any, ...]]:
        """Run it with a value for each slot; all rows, as tuples."""
        database = self._database.obj
        written = self._written.get(type(database))
        if written is None:
            written = _Written(*self._write().sql(), database.param)
            self._written[type(database)] = written
        if self._is_timely:
            values["deadline"] = database.deadline()
        parameters = [values[name] for name in written.names]
        if self._is_timely:
            cursor = database.execute_timely(written.sql, parameters)
        else:
            cursor = database.execute_sql(written.sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


class _Written:
    """SQL in which only slots are parameters, and their names in that order."""

    def __init__(self, sql: str, parameters: list[Any], mark: str) -> None:
        self.names: list[str] = []
        beginning, *pieces = sql.split(mark)
        self.sql = beginning
        for value, piece in zip(parameters, pieces, strict=True):
            self.sql += self._place(value, mark) + piece

    def _place(self, value: Any, mark: str) -> str:
        if type(value) is not _Slot:
            return _literal(value)
        if mark != "?":
            self.names.append(value)
            return mark
        # SQLite numbers its parameters: what stands in many places is given once.
        if value not in self.names:
            self.names.append(value)
        return f"?{self.names.index(value) + 1}"


def _literal(value: int | str | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    quoted = value.replace("'", "''")
    return f"'{quoted}'"


def statement(
    database: DatabaseProxy, *, is_timely: bool = False
) -> Callable[[Callable[[], Query]], Statement]:
    """Make the decorated function, which builds a query, a `Statement`."""
    return lambda write: Statement(database, write, is_timely=is_timely)
