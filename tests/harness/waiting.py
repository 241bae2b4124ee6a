"""Waiting for a condition."""

import time
from collections.abc import Callable

WITHIN_SECONDS = 60
FIRST_PAUSE_SECONDS, LAST_PAUSE_SECONDS = 0.005, 0.05  # between two questions


def wait_until(is_so: Callable[[], object], else_: str = "it is false") -> float:
    """Wait for the condition; return the seconds that took, or fail after a minute."""
    started, pause = time.monotonic(), FIRST_PAUSE_SECONDS
    while time.monotonic() - started < WITHIN_SECONDS:
        if is_so():
            return time.monotonic() - started
        time.sleep(pause)
        # Many a question is a request, which costs what others wait for.
        pause = min(1.2 * pause, LAST_PAUSE_SECONDS)
    raise AssertionError(f"{else_} for {WITHIN_SECONDS} seconds")
