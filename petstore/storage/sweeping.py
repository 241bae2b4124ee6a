"""Deletes rows that are no longer needed, a few whenever a row is added."""

from collections.abc import Callable
from typing import Any

from peewee import Expression, Field, Model, Query, Select, Tuple

from petstore.storage.queries import Statement

SWEPT_AT_ONCE = 10


class Sweep:
    """Deletes outdated rows of a table, at most SWEPT_AT_ONCE, the oldest first.

    It reads before it deletes, since usually nothing is outdated.
    """

    def __init__(
        self, table: type[Model], age: Field, is_outdated: Callable[[], Expression]
    ) -> None:
        database = table._meta.database

        def select() -> Select:
            rows = table.select(*database.row_id(table)).where(is_outdated())
            oldest: Select = rows.order_by(age).limit(SWEPT_AT_ONCE)
            return oldest

        def delete() -> Query:
            key, oldest = database.row_id(table), database.skip_locked(select())
            return table.delete().where(Tuple(*key).in_(oldest)).returning(*key)

        self._select = Statement(database, select)
        self._delete = Statement(database, delete)

    def __call__(self, **values: Any) -> bool:
        """Delete a few rows, and return whether there may be more.

        The values are for the slots of the condition.
        """
        if not self._select(**values):
            return False
        return len(self._delete(**values)) == SWEPT_AT_ONCE
