"""Queries that Peewee writes once and that run from then on with new values.

To let Peewee write the same query again would cost more than SQLite takes to run it.
"""

from collections.abc import Callable
from typing import Any

from peewee import DatabaseProxy, Query, Value

Row = tuple[Any, ...]


class _Slot(str):
    """The name of a value that is given at each run."""


def slot(name: str) -> Value:
    """Return a placeholder for the value with that name."""
    return Value(_Slot(name), unpack=False)


class Statement:
    """A query that returns rows, called with a keyword argument for each slot.

    A query with a deadline writes only while the database's `is_before_deadline` holds.
    It needs no transaction, since it writes nothing after its client has given up.
    """

    def __init__(
        self,
        database: DatabaseProxy,
        build: Callable[[], Query],
        *,
        has_deadline: bool = False,
    ) -> None:
        self._database = database
        self._build = build
        self._has_deadline = has_deadline
        self._written: dict[type, _WrittenQuery] = {}

    def __call__(self, **values: Any) -> list[Row]:
        """Run the query and return all rows."""
        database = self._database.obj
        written = self._written_for(database)
        execute = database.execute_sql
        if self._has_deadline:
            values["deadline"] = database.deadline()
            execute = database.execute_before_deadline
        parameters = [values[name] for name in written.names]
        rows: list[Row] = execute(written.sql, parameters).fetchall()
        return rows

    def _written_for(self, database: Any) -> "_WrittenQuery":
        written = self._written.get(type(database))
        if written is None:
            written = _WrittenQuery(*self._build().sql(), database.param)
            self._written[type(database)] = written
        return written


class _WrittenQuery:
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
        # SQLite numbers its parameters, so a value in several places is given once.
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
    database: DatabaseProxy, *, has_deadline: bool = False
) -> Callable[[Callable[[], Query]], Statement]:
    """Make the decorated function, which builds a query, a `Statement`."""
    return lambda build: Statement(database, build, has_deadline=has_deadline)
