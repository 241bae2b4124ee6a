"""Queries whose SQL is built once and then run with new values each time.

Letting Peewee build the SQL again would cost more than running it costs in SQLite.
"""

from collections.abc import Callable, Hashable
from typing import Any

from peewee import SQL, DatabaseProxy, Query

Row = tuple[Any, ...]


def slot(name: str) -> SQL:
    """Return a placeholder for the value with that name, as in SQL: `:name`."""
    return SQL(f":{name}")


class Statement:
    """A query, called with a keyword argument for each slot."""

    def __init__(
        self, database: DatabaseProxy, build: Callable[[], Query | str]
    ) -> None:
        self._database = database
        self._build = build
        self._sql: dict[type, str] = {}

    def __call__(self, **values: Any) -> list[Row]:
        """Run the query and return all rows."""
        database = self._database.obj
        sql = self._sql.get(type(database)) or self._build_sql(database)
        rows: list[Row] = database.fetch(sql, values)
        return rows

    def at_once(self, key: Hashable, /, **values: Any) -> list[Row]:
        """Run a query with `write_at_once` of the database, and return all rows.

        On PostgreSQL, a pool runs at most `LIMITS.writes` for one key at a time.
        """
        database = self._database.obj
        sql = self._sql.get(type(database)) or self._build_sql(database)
        rows: list[Row] = database.write_at_once(key, sql, values)
        return rows

    def insert(self, key: Hashable, /, **values: Any) -> int:
        """Insert at most one row, like `at_once`; return its id, 0 without a row."""
        database = self._database.obj
        sql = self._sql.get(type(database)) or self._build_sql(database)
        row_id: int = database.insert(key, sql, values)
        return row_id

    def _build_sql(self, database: Any) -> str:
        query = self._build()
        sql, constants = (query, []) if isinstance(query, str) else query.sql()
        # Whether a statement needs a transaction shows in its first word.
        sql = sql.strip()
        built, *pieces = sql.split(database.param)
        for constant, piece in zip(constants, pieces, strict=True):
            built += _literal(constant) + piece
        self._sql[type(database)] = built
        return built


def _literal(value: int | str | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    quoted = value.replace("'", "''")
    return f"'{quoted}'"


def statement(
    database: DatabaseProxy,
) -> Callable[[Callable[[], Query | str]], Statement]:
    """Make the decorated function, which builds a query, a `Statement`."""
    return lambda build: Statement(database, build)
