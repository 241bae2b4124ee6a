"""What happened in a project: its events, with who has caused each."""

import json
from typing import Any, NamedTuple

from peewee import BigAutoField, BigIntegerField, ForeignKeyField, Query, TextField, fn

from petstore import clock
from petstore.events import KEPT, KEPT_MS, KINDS
from petstore.models.projects import Project
from petstore.storage import BaseModel, db, slot, statement
from petstore.storage.lists import MAX_ID, List, Listed, Part, by_id


class Event(NamedTuple):
    """An event of a project."""

    id: int
    at_ms: int
    name: str
    actor: str  # the prefix of a key, or what `petstore.events` has for others
    facts: dict[str, Any]

    @property
    def title(self) -> str:
        """What has happened; a newer version may know events that this one does not."""
        kind = KINDS.get(self.name)
        return kind.title if kind else self.name.replace("_", " ").capitalize()

    @classmethod
    def listed(cls, project_id: int, part: Part) -> Listed:
        """Return a part of the project's events, newest first."""
        [(oldest,)] = _select_oldest(project=project_id, now_ms=clock.now_ms())
        lowest = MAX_ID if oldest is None else oldest
        ranges = by_id(Activity.id, (Activity.project, project_id), lowest=lowest)
        return List(ranges, _COLUMNS, _event, is_descending=True).show(part)


class Activity(BaseModel):
    """The events of all projects, which `petstore.events` adds."""

    id = BigAutoField()
    # An earlier version, which does not know this table, deletes projects too.
    project = ForeignKeyField(Project, index=False, on_delete="CASCADE")
    at_ms = BigIntegerField(index=True)
    name = TextField()
    actor = TextField()
    facts = TextField()  # as JSON

    class Meta:
        indexes = ((("project", "id"), False),)


_COLUMNS = tuple(getattr(Activity, name) for name in Event._fields)


def _event(row: tuple[Any, ...]) -> Event:
    event = Event._make(row)
    return event._replace(facts=json.loads(row[-1]))


@statement(db)
def _select_oldest() -> Query:
    equal = ((Activity.project, slot("project")),)
    keys = db.order_along_index(equal, (Activity.id,))
    newest = (
        Activity.select(Activity.id, Activity.at_ms)
        .where(db.along_index(equal, Activity.id >= 0))
        .order_by(*(key.desc() for key in keys))
        .limit(KEPT)
    )
    is_kept = newest.c.at_ms >= db.now_ms - KEPT_MS
    return newest.select_from(fn.MIN(newest.c.id)).where(is_kept)
