"""What happened in a project: its events, with who has caused each."""

import json
from typing import Any, Self

from peewee import SQL, BigAutoField, BigIntegerField, ForeignKeyField, TextField

from petstore import clock, events
from petstore.events import KEPT, KEPT_MS, SETTINGS, SHELTER
from petstore.models import OfProject, Retention, retentions
from petstore.models.projects import Project
from petstore.storage import BaseModel, db

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

    @classmethod
    def find_removal(cls, project_id: int, kind: str, item_id: int) -> Self | None:
        """Return the event that removed an animal, order or category of the project.

        It finds what was removed on the dashboard: programs cause no such events. A
        category that was joined with another one has that as the fact `into`.
        """
        beginning = json.dumps({kind: item_id, "removed": True})[:-1]
        return cls.get_or_none(
            cls.project == project_id,
            cls.topic == SHELTER,
            cls.at_ms >= clock.now_ms() - KEPT_MS,
            db.position(cls.facts, beginning) == 1,
        )


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
