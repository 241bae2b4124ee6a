"""Failed requests: the latest ones of each project, with what they were answered.

A request puts its failure into a queue, and the background writes what is there. No
request waits for that: if the queue is full, the failure is dropped and counted.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import peewee
from peewee import (
    BigAutoField,
    BigIntegerField,
    ForeignKeyField,
    Query,
    TextField,
)

from petstore import clock, timeouts
from petstore.concurrency import Delayed
from petstore.models.projects import Project
from petstore.storage import BaseModel, db, slot, statement
from petstore.storage.lists import MAX_ID, List, Listed, Part, Search, by_id

KEPT = 200  # of a project
KEPT_MS = clock.MS_PER_DAY
WRITTEN_AT_ONCE = 100
DELETED_AT_ONCE = 500


class Failure(NamedTuple):
    """A request that was answered with an error."""

    project: int
    at_ms: int
    operation: str  # its id in the interface description, or method and path
    status: int
    code: str
    message: str
    key_prefix: str
    request_id: str
    id: int = 0  # of its row, when it has one


class FailedRequest(BaseModel):
    """A failure that is kept; `Failure` is what the rest of the service uses."""

    id = BigAutoField()
    # An earlier version, which does not know this table, deletes projects too.
    project = ForeignKeyField(Project, index=False, on_delete="CASCADE")
    at_ms = BigIntegerField()
    operation = TextField()
    status = BigIntegerField()
    code = TextField()
    message = TextField()
    key_prefix = TextField()
    request_id = TextField()

    class Meta:
        indexes = ((("project", "id"), False),)


_COLUMNS = tuple(getattr(FailedRequest, name) for name in Failure._fields)


def listed(project_id: int, part: Part, *, request_id: str | None = None) -> Listed:
    """Return a part of the project's failures of the last 24 hours, newest first.

    There are at most `KEPT`; with the id of a request, the failures of this one.
    """
    since_ms = clock.now_ms() - KEPT_MS
    of_project = by_id(FailedRequest.id, (FailedRequest.project, project_id))
    columns = FailedRequest.id, FailedRequest.at_ms
    newest = of_project(None, False).read(columns, KEPT, is_ascending=False)
    kept = [row_id for row_id, at_ms in newest if at_ms >= since_ms]
    return List(
        by_id(
            FailedRequest.id,
            (FailedRequest.project, project_id),
            lowest=min(kept, default=MAX_ID),
        ),
        _COLUMNS,
        Failure._make,
        is_descending=True,
        search=_search(request_id) if request_id else None,
    ).show(part)


def _search(request_id: str) -> Search:
    def find_lines(ids: str) -> list[int]:
        return [n for n, each in enumerate(ids.split("\n")) if each == request_id]

    return Search(FailedRequest.request_id, find_lines)


class FailureQueue:
    """Collects the failures of a process and writes them together."""

    def __init__(self) -> None:
        self.on_drop: Callable[[int], object] = lambda _number: None
        self._waiting: list[Callable[[], Failure]] = []
        self._second = 0
        self._of_second: Counter[int] = Counter()  # failures, by project
        self._grown: set[int] = set()  # projects that may have too many rows
        self._flushing = Delayed(self.flush)
        self._tidying = Delayed(self.tidy)

    def has_room(self, project_id: int, now_ms: int) -> bool:
        """Return whether to add one more failure of the project.

        Of one project, only a few in a second are added; if the queue is full, the
        failure is counted as dropped.
        """
        second = now_ms // clock.MS_PER_SECOND
        if second != self._second:
            self._second = second
            self._of_second.clear()
        self._of_second[project_id] += 1
        if self._of_second[project_id] > timeouts.LIMITS.failed_per_second:
            return False
        if len(self._waiting) >= timeouts.LIMITS.failed_requests:
            self.on_drop(1)
            return False
        return True

    def add(self, describe: Callable[[], Failure]) -> None:
        """Have a failure written soon; it is described only then."""
        self._waiting.append(describe)
        self._flushing.start(timeouts.LIMITS.failed_seconds)

    def flush(self) -> None:
        """Write what is in the queue; what cannot be written returns to it."""
        waiting, self._waiting = self._waiting, []
        try:
            while some := waiting[:WRITTEN_AT_ONCE]:
                failures = [describe() for describe in some]
                _write(failures)
                del waiting[:WRITTEN_AT_ONCE]
                self._grown |= {failure.project for failure in failures}
                self._tidying.start(timeouts.LIMITS.tidy_seconds)
        except peewee.DatabaseError as error:
            if not db.is_outage(error):  # it would be refused again
                self.on_drop(len(some))
                del waiting[:WRITTEN_AT_ONCE]
            self._take_back(waiting)

    def _take_back(self, failures: list[Callable[[], Failure]]) -> None:
        if not failures:
            return
        room = timeouts.LIMITS.failed_requests - len(self._waiting)
        self.on_drop(max(0, len(failures) - room))
        self._waiting[:0] = failures[:room]
        self._flushing.start(timeouts.LIMITS.failed_seconds)

    def tidy(self) -> None:
        """Delete rows of projects that have too many, and rows that are too old."""
        # A project may grow again meanwhile, and is then tidied again.
        grown, self._grown = list(self._grown), set()
        with suppress(peewee.DatabaseError):
            _delete_outdated()
            while grown:
                _delete_surplus(grown[-1])
                grown.pop()
        if grown:
            self._grown.update(grown)
            self._tidying.start(timeouts.LIMITS.tidy_seconds)


def _write(failures: list[Failure]) -> None:
    with db.atomic():
        _insert.run_many(failure._asdict() for failure in failures)


@statement(db)
def _insert() -> Query:
    # From the project's row, since it may be deleted meanwhile.
    names = [name for name in Failure._fields if name not in ("project", "id")]
    new = Project.select(Project.id, *map(slot, names))
    new = new.where(Project.id == slot("project"), Project.deleted_ms.is_null())
    fields = [getattr(FailedRequest, name) for name in ("project", *names)]
    return FailedRequest.insert_from(new, fields)


def _delete_surplus(project_id: int) -> None:
    """Delete all but the newest rows of a project, a few at a time."""
    while surplus := _select_surplus(project=project_id):
        _delete([row_id for (row_id,) in surplus])


@statement(db)
def _select_surplus() -> Query:
    of_project = [(FailedRequest.project, slot("project"))]
    order = db.order_along_index(of_project, [FailedRequest.id])
    return (
        FailedRequest.select(FailedRequest.id)
        .where(db.along_index(of_project, FailedRequest.id >= 0))
        .order_by(*(column.desc() for column in order))
        .offset(KEPT)
        .limit(DELETED_AT_ONCE)
    )


def _delete_outdated() -> None:
    """Delete rows that are too old, a few at a time, from the first one on."""
    before_ms = clock.now_ms() - KEPT_MS
    columns = FailedRequest.id, FailedRequest.at_ms
    first = FailedRequest.select(*columns).order_by(FailedRequest.id)
    while True:
        rows = first.limit(DELETED_AT_ONCE)
        outdated = [row.id for row in rows if row.at_ms < before_ms]
        _delete(outdated)
        if len(outdated) < DELETED_AT_ONCE:
            return


def _delete(ids: list[int]) -> None:
    if ids:
        FailedRequest.delete().where(FailedRequest.id.in_(ids)).execute()


failure_queue = FailureQueue()
