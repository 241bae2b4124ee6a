"""Lists of a project's rows: each page costs the same.

A list is read along an index. Nothing reads more of it than a page, or a fixed number
of rows, however many there are.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from peewee import OP, SQL, ColumnBase, Expression, Field, Select, fn

from petstore.models import BEFORE_ALL
from petstore.models.searching import folded
from petstore.schemas.fields import INT64_MAX
from petstore.storage import BaseModel, Row, db, row_maker

MAX_COUNTED = 10_000  # rows that are looked at, for a total or for a search
_NUMBER = re.compile(r"\s*(#?)([0-9]{1,19})\s*")
# Columns with values; None stands for any value.
Filters = Sequence[tuple[Field, Any]]


class Cursor(NamedTuple):
    """Which rows to show: the first, the last, or those after or before an id."""

    limit: int
    after: int | None = None
    before: int | None = None
    is_last: bool = False


class ListPage(NamedTuple):
    """Some rows of a list, and how many it has."""

    rows: list[Row]
    total: int
    is_exact: bool  # if not, the list has at least `total` rows
    previous: int | None  # the id before which the previous page ends, if there is one
    next: int | None  # the id after which the next page begins, if there is one


@dataclass(frozen=True)
class Listing:
    """The rows in which columns have these values, in the order of their ids.

    A search looks at the newest rows alone, and shows those that fulfil all of it.
    """

    model: type[BaseModel]
    filters: Filters
    is_descending: bool = True
    search: Sequence[Expression] = ()
    newest: int | None = None  # the number of rows that belong to the list, if limited
    sort: Field | None = None  # orders the newest rows; cursors are their places then

    def show(self, cursor: Cursor) -> ListPage:
        most = self.newest or MAX_COUNTED
        older = db.scan(self._select([self.model.id]).offset(most).limit(1))
        above = older[0][0] if older else BEFORE_ALL
        counted = self._select([SQL("1")], above).where(*self.search).limit(most)
        [(total,)] = db.scan(counted.select_from(fn.COUNT(SQL("*"))))
        is_exact = not older or self.newest is not None
        if self.sort:
            return self._sorted(cursor, above, total, is_exact)
        lowest = above if self.search else BEFORE_ALL
        if cursor.is_last or cursor.before is not None:
            rows, previous = self._read(cursor.limit, lowest, cursor.before, True)
            if previous is not None:
                following = None if cursor.is_last else rows[0].id
                return ListPage(rows[::-1], total, is_exact, previous, following)
            cursor = Cursor(cursor.limit)  # this is the beginning, so fill the page
        rows, following = self._read(cursor.limit, lowest, cursor.after, False)
        previous = rows[0].id if rows and cursor.after is not None else None
        return ListPage(rows, total, is_exact, previous, following)

    def _sorted(
        self, cursor: Cursor, above: int, total: int, is_exact: bool
    ) -> ListPage:
        """Return a page of the newest rows, in the order of a column."""
        end = total if cursor.is_last else cursor.before
        start = cursor.after or 0 if end is None else max(0, end - cursor.limit)
        key, order = self.model.id, (self.sort, self.model.id)
        found = self._select([key], above).where(*self.search)
        few = found.order_by(*order).limit(cursor.limit).offset(start)
        rows = self._rows(self.model.select().where(key.in_(few)).order_by(*order))
        stop = start + len(rows)
        following = stop if stop < total else None
        return ListPage(rows, total, is_exact, start or None, following)

    def _read(
        self, limit: int, above: int, start: int | None, is_backward: bool
    ) -> tuple[list[Row], int | None]:
        """Return the rows of a page, and the id at which to go on if there are more."""
        if is_backward == self.is_descending:
            above = above if start is None else max(above, start)
            query = self._select([], above, is_ascending=True)
        else:
            query = self._select([], above, start)
        found = self._rows(query.where(*self.search).limit(limit + 1))
        rows = found[:limit]
        return rows, rows[-1].id if len(found) > limit else None

    def _rows(self, query: Select) -> list[Row]:
        names = [column.name for column in self.model._meta.sorted_fields]
        return list(map(row_maker(*names), db.scan(query)))

    def _select(
        self,
        columns: Sequence[ColumnBase],
        above: int = BEFORE_ALL,
        below: int | None = None,
        is_ascending: bool = False,
    ) -> Select:
        key = self.model.id
        equal = [(column, value) for column, value in self.filters if value is not None]
        end = None if below is None else key < below
        keys = db.order_along_index(equal, [key])
        return (
            self.model.select(*columns)
            .where(db.along_index(equal, key > above, end))
            .order_by(*(each.asc() if is_ascending else each.desc() for each in keys))
        )


def count_each(
    filters: Filters, column: Field, values: Iterable[str]
) -> dict[str, int]:
    """Return how many rows have each value, along an index; at most MAX_COUNTED."""
    counts, model = {}, column.model
    for value in values:
        equal = [pair for pair in (*filters, (column, value)) if pair[1] is not None]
        rows = model.select(SQL("1"))
        few = rows.where(db.along_index(equal, model.id > BEFORE_ALL))
        counted = few.limit(MAX_COUNTED).select_from(fn.COUNT(SQL("*")))
        [(counts[value],)] = db.scan(counted)
    return counts


def read_search(
    text: str, column: ColumnBase, *, needs_sign: bool = True
) -> tuple[int | None, list[Expression]]:
    """Return the number that a person has typed, or the condition that words stand for.

    A searchable column then has all the words. With `needs_sign`, a number is typed
    like `#12`.
    """
    number = _NUMBER.fullmatch(text)
    if number and (number[1] or not needs_sign):
        return min(int(number[2]), INT64_MAX), []
    words = filter(None, map(folded, text.split()))
    found = [db.position(column, word) > 0 for word in words]
    return None, [reduce(_and_flat, found)] if found else []


def _and_flat(one: Expression, other: Expression) -> Expression:
    # SQLite does not read a hundred parentheses within each other.
    return Expression(one, OP.AND, other, flat=True)
