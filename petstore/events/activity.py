"""Adds events to the activity of the project that they concern.

The table itself is `petstore.models.activity`, above this layer: it refers to projects,
which emit events.
"""

import json
from typing import Any, NamedTuple

from peewee import Query, Table

from petstore import clock
from petstore.storage import db, slot, statement

KEPT = 500  # events of a project
KEPT_MS = 90 * clock.MS_PER_DAY
DELETED_AT_ONCE = 20
# Who has caused an event, if it was no key of the project.
OPERATOR, ITSELF = "operator", "service"


class Kind(NamedTuple):
    """What a project sees of the events of a kind: a title, and some of the facts."""

    title: str
    facts: tuple[str, ...]


# All other events, and all other facts of these, are for the operator's log alone.
KINDS = {
    "signed_in": Kind("Signed in", ("key",)),
    "session_ended": Kind("Session ended", ("key", "session_key")),
    "other_sessions_ended": Kind("All other sessions ended", ()),
    "key_created": Kind("Key issued", ("key",)),
    "key_rotated": Kind("Key rotated", ("key",)),
    "key_revoked": Kind("Key revoked", ("key",)),
    "key_banned": Kind("Key banned", ("key", "until_ms")),
    "key_unbanned": Kind("Key unbanned", ("key",)),
    "plan_changed": Kind("Plan changed", ("plan", "per_minute", "per_day", "max_rows")),
    "animals_imported": Kind("Animals imported", ("animals",)),
    "domain_added": Kind("Domain added", ("domain",)),
    "domain_verified": Kind("Domain verified", ("domain",)),
    "domain_primary_changed": Kind("Primary domain changed", ("domain",)),
    "domain_expired": Kind("Domain expired", ("domain",)),
    "domain_lost": Kind("Domain lost to another project", ("domain",)),
    "domain_removed": Kind("Domain removed", ("domain",)),
    "domain_withdrawn": Kind("Domain removed before it was verified", ("domain",)),
    "certificate_failed": Kind("Certificate failed", ("domain", "reason")),
}


def add(slug: str, name: str, actor: str, facts: dict[str, Any]) -> None:
    """Add an event to the project with that slug, and delete what is too much.

    No lock is taken: transactions that end together may leave too many until the next
    event.
    """
    shown = {fact: facts[fact] for fact in KINDS[name].facts if fact in facts}
    values = {"name": name, "actor": actor, "facts": json.dumps(shown)}
    for (project,) in _insert(slug=slug, **values, now_ms=clock.now_ms()):
        _delete_surplus(project=project)


_TEXTS = ("name", "actor", "facts")
_project, _activity = Table("project"), Table("activity")


@statement(db)
def _insert() -> Query:
    found = _project.select(_project.c.id, db.now_ms, *map(slot, _TEXTS))
    columns = ("project_id", "at_ms", *_TEXTS)
    return _activity.insert(
        found.where(_project.c.slug == slot("slug")),
        columns=[getattr(_activity.c, column) for column in columns],
    ).returning(_activity.c.project_id)


@statement(db)
def _delete_surplus() -> Query:
    equal = ((_activity.c.project_id, slot("project")),)
    keys = db.order_along_index(equal, (_activity.c.id,))
    ids = _activity.select(_activity.c.id)
    newest = ids.where(db.along_index(equal, _activity.c.id >= 0))
    newest = newest.order_by(*(key.desc() for key in keys))
    is_surplus = _activity.c.id <= newest.offset(KEPT).limit(1)
    surplus = ids.where(db.along_index(equal, _activity.c.id >= 0, is_surplus))
    few = db.skip_locked(surplus.order_by(*keys).limit(DELETED_AT_ONCE))
    return _activity.delete().where(_activity.c.id.in_(few))
