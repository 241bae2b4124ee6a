"""Events of keys, plans, bans, domains and stores.

Each is one call, for the log, for the metrics, and for the project that it concerns.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from petstore.events import activity
from petstore.events.activity import ITSELF, KINDS
from petstore.storage import db

# What an operator has to act on; all other events are for information.
LEVELS = {
    "counters_lost": logging.WARNING,
    "domain_taken_over": logging.WARNING,
    "proxy_not_trusted": logging.WARNING,
    "requests_refused": logging.WARNING,
    "database_error": logging.ERROR,
}

log = logging.getLogger(__name__)

# Who acts; what nobody has asked for, such as a check in the background, the service
# does by itself.
_actor: ContextVar[str] = ContextVar("actor", default=ITSELF)


def act_as(actor: str) -> None:
    """Set who does what follows in this request: the prefix of a key."""
    _actor.set(actor)


@contextmanager
def acting_as(actor: str) -> Iterator[None]:
    """Set who does what the block does."""
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


def emit(name: str, level: int | None = None, **facts: Any) -> None:
    """Emit an event. The facts must not be secret: a key's prefix at most."""
    level = level or LEVELS.get(name, logging.INFO)
    log.log(level, name, extra={"facts": facts})


def emit_after_commit(name: str, *, by: str | None = None, **facts: Any) -> None:
    """Emit an event when the current transaction is committed; at once without one.

    If it is one of `KINDS`, it is added to the activity of the project whose slug is
    the fact `project`, in the same transaction. `by` is whoever has caused it, unless
    that is who acts. A transaction that is rolled back emits and adds nothing.
    """
    if name in KINDS:
        activity.add(facts["project"], name, by or _actor.get(), facts)
    db.after_commit(partial(emit, name, **facts))
