"""What happens to keys, plans, bans and domains, told to whoever listens."""

import logging
from typing import Any

log = logging.getLogger(__name__)


def emit(name: str, **facts: Any) -> None:
    """Tell of an event; the facts must hold nothing secret, a key's prefix at most."""
    log.info(name, extra={"facts": facts})
