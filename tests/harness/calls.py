"""Count calls of functions."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


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


@contextmanager
def called_functions(file: str) -> Iterator[list[str]]:
    """Record the names of the functions that this thread calls in one file.

    The file is given by the end of its path, such as `flask/sessions.py`.
    """
    names: list[str] = []

    def record(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.endswith(file):
            names.append(frame.f_code.co_name)

    sys.setprofile(record)
    try:
        yield names
    finally:
        sys.setprofile(None)
