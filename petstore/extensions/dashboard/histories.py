"""What people are told about who did something, as far as that is kept."""

import json
from collections.abc import Sequence
from typing import Any

from petstore import clock
from petstore.events import OPERATOR, SYSTEM, actor
from petstore.models.activity import KEPT_MS, Event, record
from petstore.models.keys import Key
from petstore.storage import db

SHELTER = "shelter"  # what these events are about


def note(slug: str, title: str, facts: dict[str, Any]) -> None:
    """Add a change of animals, orders or categories to the activity of a project.

    Such a change has no line of its own in the log, only that of its request.
    """
    record(slug, SHELTER, title, actor.get(), facts)


def key_labels(project_id: int, prefixes: Sequence[str | None]) -> dict[str, str]:
    """Return the label of each of these keys that still exists and has one."""
    keys = Key.select(Key.prefix, Key.label, Key.project).where(
        Key.prefix.in_(prefixes)
    )
    # With the project as a condition, SQLite would read all of its keys.
    own = [key for key in keys if key.project_id == project_id]
    return {key.prefix: key.label for key in own if key.label}


def actor_text(project_id: int, by: str | None) -> str:
    """Return in words who acted: a key with its label, or somebody else.

    `by` is the prefix of a key, with its label at that time if that is kept, or what
    `petstore.events` has for others.
    """
    who, _, label = (by or "").partition(" ")
    if who in ("", OPERATOR, SYSTEM):
        return f"the {who}" if who else "somebody"
    return label or key_labels(project_id, [who]).get(who, f"the key {who}")


def find_removal(project_id: int, kind: str, item_id: int) -> Event | None:
    """Return the event that removed an animal, order or category of the project.

    It finds what was removed on the dashboard: programs cause no such events. A
    category that was joined with another one has that as the fact `into`.
    """
    beginning = json.dumps({kind: item_id, "removed": True})[:-1]
    return Event.get_or_none(
        Event.project == project_id,
        Event.topic == SHELTER,
        Event.at_ms >= clock.now_ms() - KEPT_MS,
        db.position(Event.facts, beginning) == 1,
    )


def removal_text(project_id: int, removal: Event) -> str:
    """Return in a sentence what was removed, as the notice said then, and by whom."""
    return f"{removal.name} This was done by {actor_text(project_id, removal.actor)}."
