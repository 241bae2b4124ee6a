"""What happened in a project: its events, with who has caused each."""

import json
from functools import partial
from typing import Any

from peewee import SQL, BigAutoField, BigIntegerField, DeferredForeignKey, TextField

from petstore import clock
from petstore.events import actor, emit
from petstore.models import OfProject, Retention, retentions
from petstore.storage import BaseModel, db

SETTINGS = "settings"  # what most events are about
KEPT = 500  # events of a project about a topic
KEPT_MS = 90 * clock.MS_PER_DAY
DELETED_AT_ONCE = 20

# The events that a project sees, each with the facts that it sees. The operator's log
# has all. Extensions add their own.
SHOWN_FACTS: dict[str, tuple[str, ...]] = {
    "key_created": ("key", "label"),
    "key_rotated": ("key",),
    "key_revoked": ("key",),
    "key_banned": ("key", "until_ms"),
    "key_unbanned": ("key",),
    "name_changed": ("name", "was"),
    "plan_changed": ("plan", "per_minute", "per_day", "max_rows", "was"),
    "project_suspended": (),
    "project_resumed": (),
}


class Event(OfProject, BaseModel):
    """An event of a project."""

    id = BigAutoField()
    # Deferred, since a project has events of its own.
    project: Any = DeferredForeignKey("Project", index=False, on_delete="CASCADE")
    at_ms = BigIntegerField(index=True)
    name = TextField()
    actor = TextField()  # the prefix of a key, or what `petstore.events` has for others
    facts: Any = TextField()  # as JSON
    topic = TextField(constraints=[SQL(f"DEFAULT '{SETTINGS}'")])

    class Meta:
        table_name = "activity"
        indexes = ((("project", "topic", "id"), False),)


retentions += [Retention(Event, Event.at_ms, KEPT_MS)]


def emit_after_commit(
    name: str, /, *, by: str | None = None, topic: str = SETTINGS, **facts: Any
) -> None:
    """Emit an event after the COMMIT of the current transaction; without one, at once.

    An event of `SHOWN_FACTS` is recorded, in the same transaction, for the project
    whose slug is the fact `project`. `by` is who acts, if that is not `actor`. A
    transaction that is rolled back emits and records nothing.
    """
    if name in SHOWN_FACTS:
        shown = {fact: facts[fact] for fact in SHOWN_FACTS[name] if fact in facts}
        record(facts["project"], topic, name, by or actor.get(), shown)
    db.after_commit(partial(emit, name, **facts))


def record(slug: str, topic: str, name: str, by: str, facts: dict[str, Any]) -> None:
    """Add an event to the project with that slug, and delete surplus ones.

    Each topic keeps its own newest events. This takes no lock, so concurrent
    transactions may leave too many. The next event deletes these.
    """
    values = {"name": name, "actor": by, "facts": json.dumps(facts)}
    if project := Event.project.rel_model.get_or_none(slug=slug):
        Event.create(project=project, topic=topic, at_ms=clock.now_ms(), **values)
        Event.delete_surplus(KEPT, DELETED_AT_ONCE, project=project.id, topic=topic)
