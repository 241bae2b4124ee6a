"""Lists of a project's rows: each page costs the same.

A list is read along an index. Nothing reads more of it than a page, or a fixed number
of rows, however many there are.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from peewee import CTE, JOIN, OP, SQL, ColumnBase, Expression, Field, Select, fn

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
        if self.sort:
            return self._sorted(cursor)
        if cursor.is_last or cursor.before is not None:
            rows, previous, counts = self._read(cursor.limit, cursor.before, True)
            if previous is not None:
                following = None if cursor.is_last else rows[0].id
                return ListPage(rows[::-1], *counts, previous, following)
            cursor = Cursor(cursor.limit)  # this is the beginning, so fill the page
        rows, following, counts = self._read(cursor.limit, cursor.after, False)
        previous = rows[0].id if rows and cursor.after is not None else None
        return ListPage(rows, *counts, previous, following)

    def _sorted(self, cursor: Cursor) -> ListPage:
        """Return a page of the newest rows, in the order of a column."""
        older, found = self._counted()
        [(above, total)] = _scan(_counts(older, found), older, found)
        is_exact = above is None or self.newest is not None
        end = total if cursor.is_last else cursor.before
        start = cursor.after or 0 if end is None else max(0, end - cursor.limit)
        key, order = self.model.id, (self.sort, self.model.id)
        above = BEFORE_ALL if above is None else above
        newest = self._select([key], above).where(*self.search)
        few = newest.order_by(*order).limit(cursor.limit).offset(start)
        query = self.model.select().where(key.in_(few)).order_by(*order)
        rows = list(map(self._row, db.scan(query)))
        stop = start + len(rows)
        following = stop if stop < total else None
        return ListPage(rows, total, is_exact, start or None, following)

    def _read(
        self, limit: int, start: int | None, is_backward: bool
    ) -> tuple[list[Row], int | None, tuple[int, bool]]:
        """Return the rows of a page, the id at which to go on, and what is counted.

        That is one statement: PostgreSQL plans each anew.
        """
        older, found = self._counted()
        is_ascending = is_backward == self.is_descending
        above = start if is_ascending and start is not None else BEFORE_ALL
        below = None if is_ascending else start
        query: Select
        if self.search:
            few = Select([found], [found.c.id]).where(found.c.id > above)
            few = few if below is None else few.where(found.c.id < below)
            few = few.order_by(found.c.id.asc() if is_ascending else found.c.id.desc())
            query = self.model.select().where(self.model.id.in_(few.limit(limit + 1)))
        else:
            query = self._select([], above, below, is_ascending).limit(limit + 1)
        counts, page = _counts(older, found).alias("counts"), query.alias("page")
        fields = [each.column_name for each in self.model._meta.sorted_fields]
        columns = [getattr(page.c, name) for name in fields]
        both = Select([counts], [counts.c.older, counts.c.total, *columns])
        both = both.join(page, JOIN.LEFT_OUTER, on=SQL("1 = 1"))
        read = _scan(both, older, found)
        rows = [self._row(row[2:]) for row in read]
        rows = [row for row in rows if row.id is not None]  # there may be none
        rows.sort(key=lambda row: row.id, reverse=not is_ascending)
        following = rows[limit - 1].id if len(rows) > limit else None
        first_older, total = read[0][:2]
        is_exact = first_older is None or self.newest is not None
        return rows[:limit], following, (total, is_exact)

    def _counted(self) -> tuple[CTE, CTE]:
        """Return queries for the first row that is not counted, and those that are."""
        most, key = self.newest or MAX_COUNTED, self.model.id
        older = self._select([key]).offset(most).limit(1).cte("older")
        above = fn.COALESCE(Select([older], [older.c.id]), BEFORE_ALL)
        found = self._select([key], above).where(*self.search).limit(most)
        return older, found.cte("found", materialized=bool(self.search) or None)

    @property
    def _row(self) -> Callable[[Any], Row]:
        names = [column.name for column in self.model._meta.sorted_fields]
        return row_maker(*names)

    def _select(
        self,
        columns: Sequence[ColumnBase],
        above: Any = BEFORE_ALL,
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


def _counts(older: CTE, found: CTE) -> Select:
    number = Select([found], [fn.COUNT(SQL("*"))])
    columns = [Select([older], [older.c.id]).alias("older"), number.alias("total")]
    return Select(columns=columns)


def _scan(query: Select, *ctes: CTE) -> list[Row]:
    # It begins with SELECT, so that it is known to write nothing.
    rows: list[Row] = db.scan(query.with_cte(*ctes).select_from(SQL("*")).bind(db))
    return rows


def count_each(
    filters: Filters, column: Field, values: Iterable[str]
) -> dict[str, int]:
    """Return how many rows have each value, along an index; at most MAX_COUNTED."""
    counts, model = [], column.model
    for value in (values := list(values)):
        equal = [pair for pair in (*filters, (column, value)) if pair[1] is not None]
        rows = model.select(SQL("1"))
        few = rows.where(db.along_index(equal, model.id > BEFORE_ALL))
        few = few.order_by(*db.order_along_index(equal, [model.id])).limit(MAX_COUNTED)
        counts.append(few.select_from(fn.COUNT(SQL("*"))))
    return dict(zip(values, *db.scan(Select(columns=counts).bind(db)), strict=True))


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
