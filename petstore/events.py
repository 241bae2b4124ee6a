"""Events of keys, plans, bans, domains and stores.

One call writes an event to the log, counts it, and shows it to its project.
"""

import logging
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple

from petstore import clock
from petstore.storage import db

# The events on which an operator has to act. All others are for information.
LEVELS = {
    "counters_lost": logging.WARNING,
    "database_busy": logging.WARNING,
    "other_server": logging.WARNING,
    "database_error": logging.ERROR,
}

# The topics of a project's events. Each keeps its own newest events.
SETTINGS, SHELTER, SESSIONS = TOPICS = ("settings", "shelter", "sessions")
KEPT = 500  # events of a project about a topic
KEPT_MS = 90 * clock.MS_PER_DAY
# Who acts, if it is no key of the project.
OPERATOR, SYSTEM = "operator", "service"

log = logging.getLogger(__name__)

# Who acts: the prefix of a key, `OPERATOR`, or `SYSTEM` for the service, for example
# when it checks a domain in the background.
actor: ContextVar[str] = ContextVar("actor", default=SYSTEM)


def emit(name: str, /, level: int | None = None, **facts: Any) -> None:
    """Emit an event. Its facts must not be secret: no more of a key than its prefix."""
    level = level or LEVELS.get(name, logging.INFO)
    log.log(level, name, extra={"facts": facts})


def emit_after_commit(name: str, /, *, by: str | None = None, **facts: Any) -> None:
    """Emit an event after the COMMIT of the current transaction; without one, at once.

    An event of `EVENT_TYPES` is also added, in the same transaction, to the activity of
    the project whose slug is the fact `project`. `by` is who acts, if that is not
    `actor`. A transaction that is rolled back emits and adds nothing.
    """
    if known := EVENT_TYPES.get(name):
        shown = {fact: facts[fact] for fact in known.facts if fact in facts}
        _record(facts["project"], known.topic, name, by or actor.get(), shown)
    db.after_commit(partial(emit, name, **facts))


class EventType(NamedTuple):
    """A type of event that a project sees, with the names of the facts that it sees."""

    title: str
    facts: tuple[str, ...]
    topic: str = SETTINGS


# The events that projects see. Other events and facts are only in the operator's log.
EVENT_TYPES = {
    "signed_in": EventType("Signed in", ("key",), SESSIONS),
    "session_ended": EventType("Session ended", ("key", "session_key"), SESSIONS),
    "other_sessions_ended": EventType("All other sessions ended", (), SESSIONS),
    "key_created": EventType("Key issued", ("key", "label")),
    "key_changed": EventType(
        "Key changed", ("key", "label", "per_minute", "per_day", "origins", "was")
    ),
    "key_rotated": EventType("Key rotated", ("key",)),
    "key_revoked": EventType("Key revoked", ("key",)),
    "key_banned": EventType("Key banned", ("key", "until_ms")),
    "key_unbanned": EventType("Key unbanned", ("key",)),
    "name_changed": EventType("Project renamed", ("name", "was")),
    "plan_changed": EventType(
        "Plan changed", ("plan", "per_minute", "per_day", "max_rows", "was")
    ),
    "project_suspended": EventType("Project suspended", ()),
    "project_resumed": EventType("Project resumed", ()),
}


# What records the events that a project sees: `models/activity.py`, which imports this
# module, adds a function.
recorders: list[Callable[[str, str, str, str, dict[str, Any]], None]] = []


def note(slug: str, title: str, facts: dict[str, Any]) -> None:
    """Add a change of animals, orders or categories to the activity of a project.

    Such a change has no line of its own in the log, only that of its request.
    """
    _record(slug, SHELTER, title, actor.get(), facts)


def _record(slug: str, topic: str, name: str, by: str, facts: dict[str, Any]) -> None:
    for record in recorders:
        record(slug, topic, name, by, facts)
