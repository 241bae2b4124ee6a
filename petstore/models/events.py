"""Events of keys, plans, bans, domains and stores, for the log and the metrics."""

import logging
from functools import partial
from typing import Any

from petstore.database import data

log = logging.getLogger(__name__)


def emit(name: str, **facts: Any) -> None:
    """Emit an event. The facts must not be secret: a key's prefix at most."""
    log.info(name, extra={"facts": facts})


def emit_after_commit(name: str, **facts: Any) -> None:
    """Emit an event when the current transaction is committed; at once without one.

    A transaction that is rolled back emits nothing.
    """
    data.after_commit(partial(emit, name, **facts))
