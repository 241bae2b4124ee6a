"""Waiting for what is on its way."""

import time
from collections.abc import Callable

WITHIN_SECONDS = 60
PAUSE_SECONDS = 0.01


def wait_until(is_so: Callable[[], object], else_: str) -> float:
    """Return as soon as it is so, after how many seconds; raise if it never is."""
    started = time.monotonic()
    while time.monotonic() - started < WITHIN_SECONDS:
        if is_so():
            return time.monotonic() - started
        time.sleep(PAUSE_SECONDS)
    raise AssertionError(f"{else_} for {WITHIN_SECONDS} seconds")
