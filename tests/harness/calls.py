"""Count calls of functions."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def counted_calls() -> Iterator[list[str]]:
    """Record a call of each function that this thread calls in the block."""
    calls: list[str] = []
    gc.disable()  # the collector may call functions of libraries
    sys.setprofile(
        lambda _frame, event, _: event[-4:] == "call" and calls.append(event)
    )
    try:
        yield calls
    finally:
        sys.setprofile(None)
        gc.enable()
