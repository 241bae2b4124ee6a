"""Lists of the dashboard: in both directions, with a total, and every page as cheap.

A list is read along an index. Nothing reads more of it than a page, or a fixed number
of rows, however many there are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from peewee import SQL, ColumnBase, Expression, Field, fn

from petstore.storage.database import db

MAX_COUNTED = 10_000  # rows that are looked at, for a total or for a search
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
    """Rows of an index in which the id is at least `low` and below `high`.

    Each column before it has one value.
    """

    equal: tuple[tuple[ColumnBase, Any], ...]
    id: Field
    low: int
    high: int | None = None

    def read(
        self, columns: tuple[ColumnBase, ...], limit: int, *, is_ascending: bool
    ) -> list[tuple[Any, ...]]:
        """Return the first rows in this direction."""
        order = [key.asc() if is_ascending else key.desc() for key in self._keys()]
        rows = self.id.model.select(*columns).where(self._condition())
        return list(rows.order_by(*order).limit(limit).tuples())

    def join_texts(self, text: ColumnBase, limit: int) -> tuple[list[str], str]:
        """Return the ids of the last rows, and a line for the text of each.

        So many rows one by one would take several times as long as these two values.
        """
        columns = self.id.alias("id"), text.alias("text")
        order = [key.desc() for key in self._keys()]
        rows = self.id.model.select(*columns).where(self._condition())
        rows = rows.order_by(*order).limit(limit).alias("newest")
        joined = db.join(rows.c.id.cast("text"), ","), db.join(rows.c.text, "\n")
        ids, texts = rows.select_from(*joined).tuples()[0]
        return ids.split(",") if ids else [], texts or ""

    def read_some(
        self, columns: tuple[ColumnBase, ...], ids: list[int]
    ) -> list[tuple[Any, ...]]:
        """Return those rows that have these ids, in any order."""
        is_equal = [column == value for column, value in self.equal]
        rows = self.id.model.select(*columns).where(*is_equal, self.id.in_(ids))
        return list(rows.tuples())

    def count(self, limit: int) -> int:
        """Count the rows, but no more than `limit`."""
        rows = self.id.model.select(SQL("1")).where(self._condition())
        rows = rows.order_by(*self._keys()).limit(limit)
        count: int = rows.select_from(fn.COUNT(SQL("*"))).scalar()
        return count

    def _condition(self) -> Expression:
        high = None if self.high is None else self.id < self.high
        return db.along_index(self.equal, self.id >= self.low, high)

    def _keys(self) -> list[ColumnBase]:
        return db.order_along_index(self.equal, [self.id])


# Called with an id and whether to go up: the rows above it, or below it; without an id,
# all rows.
RangeFinder = Callable[[int | None, bool], IndexRange]


def by_id(
    id: Field,
    *equal: tuple[ColumnBase, Any],
    lowest: int = 0,
    below: int | None = None,
) -> RangeFinder:
    """Order the rows that have these values by their ids, within these bounds."""

    def find(row_id: int | None, is_above: bool) -> IndexRange:
        if row_id is None:
            return IndexRange(equal, id, lowest, below)
        if is_above:
            above = max(lowest, min(row_id + 1, MAX_ID))
            return IndexRange(equal, id, above, below)
        return IndexRange(equal, id, lowest, min(row_id, below or row_id))

    return find


class Search(NamedTuple):
    """Which rows of a list to show: those that a function finds by their texts."""

    text: ColumnBase
    # It gets a line for each row, and returns the numbers of those to show, from 0 on.
    find_lines: Callable[[str], list[int]]


@dataclass(frozen=True)
class List:
    """A list in the order of ids; with a search, what it finds in the newest rows."""

    find: RangeFinder
    columns: tuple[ColumnBase, ...]
    make: Callable[[tuple[Any, ...]], Row]
    is_descending: bool = False
    search: Search | None = None

    def show(self, part: Part) -> Listed:
        """Return a part of the list, and the total."""
        if self.search is None:
            return self._show(part, self._count(), self._read)
        found, is_exact = self._find(self.search)
        return self._show(part, (len(found), is_exact), partial(self._pick, found))

    def _show(
        self,
        part: Part,
        total: tuple[int, bool],
        read: Callable[[int | None, int, bool], list[Row]],
    ) -> Listed:
        at_most = part.limit + 1
        if part.is_last or part.before is not None:
            rows, edge = _cut(read(part.before, at_most, True), part.limit)
            if edge is not None:
                following = rows[0].id if rows and not part.is_last else None
                return Listed(rows[::-1], *total, previous=edge, next=following)
            part = Part(part.limit)  # this is the beginning, so fill the page
        rows, edge = _cut(read(part.after, at_most, False), part.limit)
        previous = rows[0].id if rows and part.after is not None else None
        return Listed(rows, *total, previous=previous, next=edge)

    def _count(self) -> tuple[int, bool]:
        counted = self.find(None, False).count(MAX_COUNTED + 1)
        return min(counted, MAX_COUNTED), counted <= MAX_COUNTED

    def _read(self, row_id: int | None, limit: int, is_backward: bool) -> list[Row]:
        is_above = is_backward == self.is_descending
        rows = self.find(row_id, is_above)
        read = rows.read(self.columns, limit, is_ascending=is_above)
        return list(map(self.make, read))

    def _find(self, search: Search) -> tuple[list[int], bool]:
        """Return the ids that a search finds, and whether it has seen all rows."""
        ids, texts = self.find(None, False).join_texts(search.text, MAX_COUNTED + 1)
        lines = search.find_lines(texts) if ids else []
        found = [int(ids[n]) for n in lines if n < MAX_COUNTED]
        return found, len(ids) <= MAX_COUNTED

    def _pick(
        self, found: list[int], row_id: int | None, limit: int, is_backward: bool
    ) -> list[Row]:
        """Do what `_read` does, with the ids that a search has found."""
        is_above = is_backward == self.is_descending
        if row_id is not None:
            found = [each for each in found if each != row_id]
            found = [each for each in found if (each > row_id) == is_above]
        ids = sorted(found, reverse=not is_above)[:limit]
        rows = self.find(None, False).read_some(self.columns, ids) if ids else []
        return sorted(map(self.make, rows), reverse=not is_above)


def _cut(rows: list[Row], limit: int) -> tuple[list[Row], int | None]:
    """Return the rows of a page, and the id at which to go on if there are more."""
    return rows[:limit], rows[limit - 1].id if len(rows) > limit else None
