"""What happened in a project: its events, with who has caused each."""

import json
from typing import Any, NamedTuple

from peewee import SQL, BigAutoField, BigIntegerField, ForeignKeyField, TextField

from petstore import clock
from petstore.events import KEPT, KEPT_MS, KINDS, SETTINGS
from petstore.models.projects import Project
from petstore.storage import BaseModel
from petstore.storage.lists import List, Listed, Part


class Event(NamedTuple):
    id: int
    at_ms: int
    name: str
    actor: str  # the prefix of a key, or what `petstore.events` has for others
    facts: dict[str, Any]

    @property
    def title(self) -> str:
        """What has happened; a newer version may know events that this one does not."""
        if kind := KINDS.get(self.name):
            return kind.title
        return self.name.replace("_", " ")

    @classmethod
    def listed(cls, project_id: int, part: Part, topic: str = SETTINGS) -> Listed:
        return List(
            Activity.id,
            ((Activity.project, project_id), (Activity.topic, topic)),
            _COLUMNS,
            _event,
            search=[Activity.at_ms >= clock.now_ms() - KEPT_MS],
            newest=KEPT,
        ).show(part)


class Activity(BaseModel):
    """The events of all projects, which `petstore.events` adds."""

    id = BigAutoField()
    # An earlier version, which does not know this table, deletes projects too.
    project = ForeignKeyField(Project, index=False, on_delete="CASCADE")
    at_ms = BigIntegerField(index=True)
    name = TextField()
    actor = TextField()
    facts = TextField()  # as JSON
    # One of `petstore.events.TOPICS`.
    topic = TextField(constraints=[SQL(f"DEFAULT '{SETTINGS}'")])

    class Meta:
        indexes = ((("project", "topic", "id"), False),)


_COLUMNS = tuple(getattr(Activity, name) for name in Event._fields)


def _event(row: tuple[Any, ...]) -> Event:
    event = Event._make(row)
    return event._replace(facts=json.loads(row[-1]))
