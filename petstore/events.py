"""Events for the operator's log, and who causes them."""

import logging
from contextvars import ContextVar
from typing import Any

# The events on which an operator has to act. All others are for information.
LEVELS = {
    "counters_lost": logging.WARNING,
    "database_busy": logging.WARNING,
    "other_server": logging.WARNING,
    "database_error": logging.ERROR,
}
# Who acts, if it is no key of a project.
OPERATOR, SYSTEM = "operator", "service"

log = logging.getLogger(__name__)

# Who acts: the prefix of a key, `OPERATOR`, or `SYSTEM` for the service, for example
# when it checks a domain in the background.
actor: ContextVar[str] = ContextVar("actor", default=SYSTEM)


def emit(name: str, /, level: int | None = None, **facts: Any) -> None:
    """Emit an event. Its facts must not be secret: no more of a key than its prefix."""
    level = level or LEVELS.get(name, logging.INFO)
    log.log(level, name, extra={"facts": facts})
