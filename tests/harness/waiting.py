"""Waiting for a condition."""

import time
from collections.abc import Callable

WITHIN_SECONDS = 60
PAUSE_SECONDS = 0.01


def wait_until(is_so: Callable[[], object], else_: str = "it is false") -> float:
    """Wait for the condition; return the seconds that took, or fail after a minute."""
    started = time.monotonic()
    while time.monotonic() - started < WITHIN_SECONDS:
        if is_so():
            return time.monotonic() - started
        time.sleep(PAUSE_SECONDS)
    raise AssertionError(f"{else_} for {WITHIN_SECONDS} seconds")
