"""The events of a project, as people read them; the core records them."""

import json

from petstore import clock
from petstore.models.activity import KEPT, KEPT_MS, Event

# What events may be about, as those who cause them say.
TOPICS = ("settings", "shelter", "sessions")
# The titles that differ from the names of events.
TITLES = {
    "domain_lost": "Domain lost to another project",
    "domain_primary_changed": "Primary domain changed",
    "domain_withdrawn": "Domain removed before it was verified",
    "key_created": "Key issued",
    "name_changed": "Project renamed",
    "other_sessions_ended": "All other sessions ended",
}


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
    """Return what has happened, for what people did in their own words."""
    if event.topic == "shelter":
        return event.name
    return TITLES.get(event.name) or event.name.replace("_", " ").capitalize()
