"""The events of a project, as people read them; the core records them."""

import json

from petstore import clock
from petstore.events import EVENT_TYPES, KEPT, KEPT_MS
from petstore.models.activity import Event


def newest(project_id: int, topic: str) -> list[Event]:
    """Return the events about a topic of the last 90 days, newest first."""
    found = Event.select().where(
        Event.project == project_id,
        Event.topic == topic,
        Event.at_ms >= clock.now_ms() - KEPT_MS,
    )
    return [_read(event) for event in found.order_by(Event.id.desc()).limit(KEPT)]


def _read(event: Event) -> Event:
    event.facts = json.loads(event.facts)
    return event


def title_of(event: Event) -> str:
    """Return what has happened, also if only a newer version knows the event."""
    known = EVENT_TYPES.get(event.name)
    return known.title if known else event.name.replace("_", " ")
