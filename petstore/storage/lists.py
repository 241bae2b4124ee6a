"""Lists of the dashboard: in both directions, with a total, and every page as cheap.

A list is read along an index. Nothing reads more of it than a page, or a fixed number
of rows, however many there are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from peewee import SQL, ColumnBase, Expression, Field, Model, fn

from petstore.storage.database import db

MAX_COUNTED = 10_000  # rows of an index, for a total
MAX_EXAMINED = 500  # rows that are read for those that pass a further filter
MAX_ID = 2**63 - 1

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
class IndexRange:
    """Rows of an index in which a column is at least `low` and below `high`.

    Each column before it has one value. The columns `then` follow it.
    """

    equal: tuple[tuple[ColumnBase, Any], ...]
    column: ColumnBase
    low: Any
    high: Any = None
    then: tuple[ColumnBase, ...] = ()

    def read(
        self, columns: tuple[Field, ...], limit: int, *, is_ascending: bool
    ) -> list[tuple[Any, ...]]:
        """Return the first rows in this direction."""
        order = [key.asc() if is_ascending else key.desc() for key in self._keys()]
        rows = columns[0].model.select(*columns).where(self._condition())
        return list(rows.order_by(*order).limit(limit).tuples())

    def count(self, model: type[Model], limit: int) -> int:
        """Count the rows, but no more than `limit`."""
        rows = model.select(SQL("1")).where(self._condition())
        rows = rows.order_by(*self._keys()).limit(limit)
        count: int = rows.select_from(fn.COUNT(SQL("*"))).scalar()
        return count

    def _condition(self) -> Expression:
        high = None if self.high is None else self.column < self.high
        return db.along_index(self.equal, self.column >= self.low, high)

    def _keys(self) -> list[ColumnBase]:
        return db.order_along_index(self.equal, (self.column, *self.then))


# Called with an id and whether to go up: the ranges above the row of the id, or below
# it, the nearest one first; without an id, one range with all rows.
RangeFinder = Callable[[int | None, bool], list[IndexRange]]


def by_id(id: Field, *equal: tuple[ColumnBase, Any], lowest: int = 0) -> RangeFinder:
    """Order the rows that have these values by their ids, from the lowest on."""

    def ranges(row_id: int | None, is_above: bool) -> list[IndexRange]:
        if is_above and row_id is not None:
            return [IndexRange(equal, id, max(lowest, min(row_id + 1, MAX_ID)))]
        return [IndexRange(equal, id, lowest, row_id)]

    return ranges


@dataclass(frozen=True)
class List:
    """A list in an order, perhaps with a filter that the order does not know."""

    ranges: RangeFinder
    columns: tuple[Field, ...]
    make: Callable[[tuple[Any, ...]], Row]
    is_descending: bool = False
    keep: Callable[[Row], bool] | None = None

    def show(self, part: Part) -> Listed:
        """Return a part of the list, and the total."""
        total = self._count()
        if part.is_last or part.before is not None:
            rows, edge = self._read(part.before, part.limit, is_backward=True)
            if edge is not None:
                following = rows[0].id if rows and not part.is_last else None
                return Listed(rows[::-1], *total, previous=edge, next=following)
            part = Part(part.limit)  # this is the beginning, so fill the page
        rows, edge = self._read(part.after, part.limit, is_backward=False)
        previous = rows[0].id if rows and part.after is not None else None
        return Listed(rows, *total, previous=previous, next=edge)

    def _read(
        self, row_id: int | None, limit: int, *, is_backward: bool
    ) -> tuple[list[Row], int | None]:
        """Return rows, and the id at which to go on unless they are the last ones."""
        is_ascending = is_backward == self.is_descending
        examined = self._examine(
            self.ranges(row_id, is_ascending),
            MAX_EXAMINED if self.keep else limit + 1,
            is_ascending=is_ascending,
        )
        rows = list(filter(self.keep, examined)) if self.keep else examined
        if len(rows) > limit:
            return rows[:limit], rows[limit - 1].id
        is_cut_off = self.keep and len(examined) == MAX_EXAMINED
        return rows, examined[-1].id if is_cut_off else None

    def _examine(
        self, ranges: list[IndexRange], limit: int, *, is_ascending: bool
    ) -> list[Row]:
        rows: list[Row] = []
        for each in ranges:
            if len(rows) < limit:
                rows += map(
                    self.make,
                    each.read(
                        self.columns, limit - len(rows), is_ascending=is_ascending
                    ),
                )
        return rows

    def _count(self) -> tuple[int, bool]:
        everything = self.ranges(None, not self.is_descending)
        if self.keep is None:
            counted = everything[0].count(self.columns[0].model, MAX_COUNTED + 1)
            return min(counted, MAX_COUNTED), counted <= MAX_COUNTED
        examined = self._examine(
            everything, MAX_EXAMINED, is_ascending=not self.is_descending
        )
        kept = sum(map(self.keep, examined))
        return kept, len(examined) < MAX_EXAMINED
