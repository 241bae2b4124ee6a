"""What happened in a project: its events, with who has caused each."""

import json
from typing import Any

from peewee import SQL, BigAutoField, BigIntegerField, ForeignKeyField, TextField

from petstore import clock, events
from petstore.events import KEPT, KEPT_MS, SETTINGS
from petstore.models import OfProject, Retention, retentions
from petstore.models.projects import Project
from petstore.storage import BaseModel

DELETED_AT_ONCE = 20


class Event(OfProject, BaseModel):
    """An event of a project."""

    id = BigAutoField()
    # An earlier version, which does not know this table, deletes projects too.
    project = ForeignKeyField(Project, index=False, on_delete="CASCADE")
    at_ms = BigIntegerField(index=True)
    name = TextField()
    actor = TextField()  # the prefix of a key, or what `petstore.events` has for others
    facts: Any = TextField()  # as JSON
    # One of `petstore.events.TOPICS`.
    topic = TextField(constraints=[SQL(f"DEFAULT '{SETTINGS}'")])

    class Meta:
        table_name = "activity"
        hidden = {"project", "topic"}
        indexes = ((("project", "topic", "id"), False),)


retentions += [Retention(Event, Event.at_ms, KEPT_MS)]


def record(slug: str, topic: str, name: str, actor: str, facts: dict[str, Any]) -> None:
    """Add an event to the project with that slug, and delete surplus ones.

    It takes no lock, so concurrent transactions may leave too many events. The next
    event deletes these.
    """
    values = {"name": name, "actor": actor, "facts": json.dumps(facts)}
    if project := Project.get_or_none(slug=slug):
        Event.create(project=project, topic=topic, at_ms=clock.now_ms(), **values)
        Event.delete_surplus(KEPT, DELETED_AT_ONCE, project=project.id, topic=topic)


events.recorders.append(record)
