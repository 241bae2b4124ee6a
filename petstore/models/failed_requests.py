"""Failed requests: the latest ones of each project, with what they were answered."""

from collections import Counter
from typing import NamedTuple

from peewee import (
    BigAutoField,
    BigIntegerField,
    ForeignKeyField,
    Query,
    TextField,
)

from petstore import clock, timeouts
from petstore.models.notes import Notes
from petstore.models.projects import Project
from petstore.storage import BaseModel, db, slot, statement
from petstore.storage.lists import MAX_ID, List, Listed, Part, Search, by_id

KEPT = 200  # of a project
KEPT_MS = clock.MS_PER_DAY


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


def _write(failures: list[Failure]) -> None:
    """Write failures, of a project only a few in a second, and delete surplus ones."""
    of_second: Counter[tuple[int, int]] = Counter()
    rows = []
    for failure in failures:
        second = failure.project, failure.at_ms // clock.MS_PER_SECOND
        of_second[second] += 1
        if of_second[second] <= timeouts.LIMITS.failed_per_second:
            rows.append(failure._asdict())
    _insert.run_many(rows)
    for project in sorted({failure.project for failure in failures}):
        _delete_surplus(project=project)


@statement(db)
def _insert() -> Query:
    # From the project's row, since it may be deleted meanwhile.
    names = [name for name in Failure._fields if name not in ("project", "id")]
    new = Project.select(Project.id, *map(slot, names))
    new = new.where(Project.id == slot("project"), Project.deleted_ms.is_null())
    fields = [getattr(FailedRequest, name) for name in ("project", *names)]
    return FailedRequest.insert_from(new, fields)


@statement(db)
def _delete_surplus() -> Query:
    of_project = [(FailedRequest.project, slot("project"))]
    order = db.order_along_index(of_project, [FailedRequest.id])
    surplus = (
        FailedRequest.select(FailedRequest.id)
        .where(db.along_index(of_project, FailedRequest.id >= 0))
        .order_by(*(column.desc() for column in order))
        .offset(KEPT)
        .limit(timeouts.LIMITS.notes)
    )
    few = db.skip_locked(surplus)
    return FailedRequest.delete().where(FailedRequest.id.in_(few))


failures = Notes(_write, lambda: timeouts.LIMITS.failed_seconds)
