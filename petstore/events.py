"""Events of keys, plans, bans, domains and stores, for the log and the metrics."""

import logging
from functools import partial
from typing import Any

from petstore.storage import db

# What an operator has to act on; all other events are for information.
LEVELS = {
    "counters_lost": logging.WARNING,
    "domain_taken_over": logging.WARNING,
    "proxy_not_trusted": logging.WARNING,
    "database_error": logging.ERROR,
}

log = logging.getLogger(__name__)


def emit(name: str, level: int | None = None, **facts: Any) -> None:
    """Emit an event. The facts must not be secret: a key's prefix at most."""
    level = level or LEVELS.get(name, logging.INFO)
    log.log(level, name, extra={"facts": facts})


def emit_after_commit(name: str, **facts: Any) -> None:
    """Emit an event when the current transaction is committed; at once without one.

    A transaction that is rolled back emits nothing.
    """
    db.after_commit(partial(emit, name, **facts))
