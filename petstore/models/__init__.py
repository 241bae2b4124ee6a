"""Tables and their rules.

Each noun is a Peewee model. Where many rows are read, or often, they are named tuples
of the columns that `columns` names: building a Peewee model for every row would make a
list of 20 animals 15 per cent slower.
"""

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, NamedTuple, TypeVar

from peewee import ColumnBase, DatabaseError, Field, Model, Query, Select

from petstore import timeouts
from petstore.concurrency import Delayed
from petstore.errors import ERRORS
from petstore.storage import (
    BaseModel,
    Row,
    close_connections,
    compiled,
    db,
    placeholder,
)

Entry = TypeVar("Entry")
BEFORE_ALL = -1  # an id before all others: there may be a category 0


class RuleError(Exception):
    """A rule does not allow what was asked for. The text tells the caller why.

    Errors that code handles, or that a request can cause, have a subclass.
    """

    code: str | None = None  # of `petstore.errors.ERRORS`, if a request can cause it
    # It has a `{}` for each value; if it is empty, the message of the code is used.
    text = ""

    def __init__(self, *values: object, text: str = "") -> None:
        text = text or self.text or (ERRORS[self.code].message if self.code else "")
        super().__init__(text.format(*values))


class NotFound(RuleError):
    """The project has nothing of this kind with that id."""

    code = "not_found"
    text = "There is no {} {}."


class Conflict(RuleError):
    """The current state does not allow it; a retry gets the same answer."""


class OfProject:
    """A model whose rows belong to a project and have an id.

    Each method takes the project first, and finds no rows of other projects.
    """

    noun = ""  # what people call a row

    @classmethod
    def find_own(cls, project_id: int, id: int) -> Row | None:
        rows = _select_own(cls, project=project_id, id=id)
        return rows[0] if rows else None

    @classmethod
    def get_own(cls, project_id: int, id: int) -> Row:
        """Return one row of the project; raises `NotFound`."""
        if row := cls.find_own(project_id, id):
            return row
        raise NotFound(cls.noun, id)

    @classmethod
    def page(
        cls, project_id: int, *, after: int, limit: int, **filters: int | str
    ) -> list[Row]:
        """Return at most `limit` rows of the project by ascending id, after `after`.

        The columns that `filters` names have the values that it gives.
        """
        cursor = {"project": project_id, "after": after, "limit": limit}
        return _select_page(cls, *sorted(filters), **cursor, **filters)

    @classmethod
    def delete_surplus(cls, kept: int, most: int, **values: int | str) -> None:
        """Delete the oldest rows with these values, at most `most` at once.

        The newest `kept` of them stay.
        """
        model: Any = cls
        equal = [(getattr(model, name), value) for name, value in values.items()]
        keys, ids = db.order_along_index(equal, [model.id]), model.select(model.id)
        newest = ids.where(db.along_index(equal, model.id >= 0))
        newest = newest.order_by(*(key.desc() for key in keys))
        # This is null, and nothing is surplus, while there are no more than are kept.
        newest_surplus = newest.offset(kept).limit(1)
        is_surplus = db.along_index(equal, model.id >= 0, model.id <= newest_surplus)
        few = db.skip_locked(ids.where(is_surplus).order_by(*keys).limit(most))
        model.delete().where(db.is_among([model.id], few)).execute()


class Retention(NamedTuple):
    """How long the rows of a table are kept, if nothing else deletes them before."""

    model: type[Model]
    age: ColumnBase  # a time, a minute or a day, in `unit_ms`
    kept: int = 0  # units after that
    unit_ms: int = 1
    along: Field | None = None  # a column with an index, in nearly the same order

    def delete_some(self) -> Query:
        """Delete outdated rows among the oldest, except those that others lock."""
        model = self.model
        database = model._meta.database
        # All hosts have the clock of the database, so none deletes too early.
        now = database.now_ms / self.unit_ms
        key = database.row_id(model)
        oldest = model.select(*key).order_by(self.along or self.age)
        few = database.skip_locked(oldest.limit(timeouts.LIMITS.deleted_rows))
        is_outdated = database.is_among(key, few) & (self.age < now - self.kept)
        return model.delete().where(is_outdated).returning(*key)


# Each module with such a table adds its own, so the service deletes what it can write.
retentions: list[Retention] = []


class WriteQueue(Generic[Entry]):
    """The entries of one kind that a process has not written yet.

    No request waits for them. When there are too many, some are lost.
    """

    def __init__(
        self, write: Callable[[list[Entry]], None], seconds: Callable[[], float]
    ) -> None:
        self._write = write
        self._seconds = seconds  # how long an entry may wait
        self._entries: deque[Entry] = deque(maxlen=timeouts.LIMITS.notes)
        self._flushing = Delayed(self.flush)
        _queues.append(self)

    def add(self, entry: Entry) -> None:
        self._entries.append(entry)
        if not self._flushing.is_started:
            self._flushing.start(self._seconds())

    def flush(self) -> None:
        """Write all entries; while the database is away, they are kept."""
        entries = []
        with suppress(IndexError):  # other threads may take some meanwhile
            while True:
                entries.append(self._entries.popleft())
        if not entries:
            return
        try:
            with db.atomic():
                self._write(entries)
        except DatabaseError as error:
            if not db.is_outage(error):
                raise
            self._entries.extendleft(reversed(entries))
            self._flushing.start(self._seconds())
        finally:
            close_connections()


_queues: list[WriteQueue[Any]] = []


def flush_queues() -> None:
    """Write the entries of all queues of this process, which may end then."""
    for queue in _queues:
        queue.flush()


@compiled(db)
def _select_own(model: type[BaseModel]) -> Query:
    is_own = (model.project == placeholder("project")) & (model.id == placeholder("id"))
    return model.select(*model.columns()).where(is_own)


@compiled(db)
def _select_page(model: type[BaseModel], *filters: str) -> Select:
    # The index has the project, the columns of the filters by name, and the id.
    equal = [getattr(model, name) for name in ("project", *filters)]
    values = [(column, placeholder(column.name)) for column in equal]
    return (
        model.select(*model.columns())
        .where(db.along_index(values, model.id > placeholder("after")))
        .order_by(*equal, model.id)
        .limit(placeholder("limit"))
    )
