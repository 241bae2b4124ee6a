"""Lists of the dashboard and pages of the API: each page costs the same.

A list is read along an index. Nothing reads more of it than a page, or a fixed number
of rows, however many there are.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from peewee import SQL, ColumnBase, Expression, Field, Select, fn

from petstore.storage.engine import Pairs, Statement, db, slot

MAX_COUNTED = 10_000  # rows that are looked at, for a total or for a search
MAX_ID = 2**63 - 1
BEFORE_ALL = -1  # there may be a category 0

Row = Any  # a named tuple with an `id`


class Part(NamedTuple):
    """Which rows to show: the first, the last, or those after or before one's id."""

    limit: int
    after: int | None = None
    before: int | None = None
    is_last: bool = False


class Listed(NamedTuple):
    """Some rows of a list, and how many it has."""

    rows: list[Row]
    total: int
    is_exact: bool  # or there are at least so many
    previous: int | None  # the id before which the previous part ends, if there is one
    next: int | None  # the id after which the next part begins, if there is one


@dataclass(frozen=True)
class List:
    """The rows in which columns have these values, in the order of their ids.

    A search looks at the newest rows alone, and shows those for which it is true.
    """

    id: Field
    filters: Pairs  # None stands for any value
    columns: Sequence[ColumnBase]
    make: Callable[[tuple[Any, ...]], Row]
    is_descending: bool = True
    search: Sequence[Expression] = ()
    newest: int | None = None  # the number of rows that belong to the list, if limited
    sort: Field | None = None  # of the newest rows, whose parts have numbers then

    def show(self, part: Part) -> Listed:
        most = self.newest or MAX_COUNTED
        older = db.scan(self._select([self.id]).offset(most).limit(1))
        above = older[0][0] if older else BEFORE_ALL
        counted = self._select([SQL("1")], above).where(*self.search).limit(most)
        [(total,)] = db.scan(counted.select_from(fn.COUNT(SQL("*"))))
        is_exact = not older or self.newest is not None
        if self.sort:
            return self._sorted(part, above, total, is_exact)
        lowest = above if self.search else BEFORE_ALL
        if part.is_last or part.before is not None:
            rows, previous = self._read(part.limit, lowest, part.before, True)
            if previous is not None:
                following = None if part.is_last else rows[0].id
                return Listed(rows[::-1], total, is_exact, previous, following)
            part = Part(part.limit)  # this is the beginning, so fill the page
        rows, following = self._read(part.limit, lowest, part.after, False)
        previous = rows[0].id if rows and part.after is not None else None
        return Listed(rows, total, is_exact, previous, following)

    def _sorted(self, part: Part, above: int, total: int, is_exact: bool) -> Listed:
        """Return a part of the newest rows, in the order of a column."""
        end = total if part.is_last else part.before
        start = part.after or 0 if end is None else max(0, end - part.limit)
        found = self._select([self.id], above).where(*self.search)
        few = found.order_by(self.sort, self.id).limit(part.limit).offset(start)
        rows = self.id.model.select(*self.columns).where(self.id.in_(few))
        ordered = db.scan(rows.order_by(self.sort, self.id))
        stop = start + len(ordered)
        return Listed(
            list(map(self.make, ordered)),
            total,
            is_exact,
            start or None,
            stop if stop < total else None,
        )

    def _read(
        self, limit: int, above: int, start: int | None, is_backward: bool
    ) -> tuple[list[Row], int | None]:
        """Return the rows of a page, and the id at which to go on if there are more."""
        if is_backward == self.is_descending:
            above = above if start is None else max(above, start)
            query = self._select(self.columns, above, is_ascending=True)
        else:
            query = self._select(self.columns, above, start)
        found = db.scan(query.where(*self.search).limit(limit + 1))
        rows = [self.make(row) for row in found[:limit]]
        return rows, rows[-1].id if len(found) > limit else None

    def _select(
        self,
        columns: Sequence[ColumnBase],
        above: int = BEFORE_ALL,
        below: int | None = None,
        is_ascending: bool = False,
    ) -> Select:
        equal = [(column, value) for column, value in self.filters if value is not None]
        end = None if below is None else self.id < below
        keys = db.order_along_index(equal, [self.id])
        return (
            self.id.model.select(*columns)
            .where(db.along_index(equal, self.id > above, end))
            .order_by(*(key.asc() if is_ascending else key.desc() for key in keys))
        )


def count_each(
    key: Field, filters: Pairs, column: Field, values: Iterable[str]
) -> dict[str, int]:
    """Return how many rows have each value, along an index; at most MAX_COUNTED."""
    counts = {}
    for value in values:
        equal = [pair for pair in (*filters, (column, value)) if pair[1] is not None]
        few = key.model.select(SQL("1")).where(db.along_index(equal, key > BEFORE_ALL))
        counted = few.limit(MAX_COUNTED).select_from(fn.COUNT(SQL("*")))
        [(counts[value],)] = db.scan(counted)
    return counts


def page_statements(
    key: Field, columns: tuple[Field, ...], *filters: Field
) -> Callable[..., Statement]:
    """Return a function that returns a statement by the names of its values.

    The statement reads the rows of a `project` after a key, at most `limit`. It takes
    `project`, `after`, `limit`, and values for the filters whose columns are named. It
    needs an index on the project, these, and the key.
    """

    @functools.cache
    def choose(*names: str) -> Statement:
        chosen = [column for column in filters if column.name in names]
        return Statement(db, lambda: _page(key, columns, chosen))

    return choose


def _page(key: Field, columns: tuple[Field, ...], filters: Sequence[Field]) -> Select:
    equal = (key.model.project, *filters)
    values = [(column, slot(column.name)) for column in equal]
    query: Select = (
        key.model.select(*columns)
        .where(db.along_index(values, key > slot("after")))
        .order_by(*equal, key)
        .limit(slot("limit"))
    )
    return query
