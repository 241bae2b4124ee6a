"""Waiting while another connection has locked an SQLite file."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from typing import Any, TypeVar

from petstore.server import await_result, timeouts

Result = TypeVar("Result")


def retry_while_busy(
    function: Callable[..., Result],
    *arguments: Any,
    seconds: float = 0.0,
    tries: int = 1,
) -> Result:
    """Call a function until the file is not locked; return the result.

    The error is raised when neither time nor tries are left. SQLite itself would block
    the event loop while it waits.
    """
    deadline = time.monotonic() + seconds
    while True:
        tries -= 1
        try:
            return function(*arguments)
        except sqlite3.OperationalError as error:
            if not is_busy(error) or (tries <= 0 and time.monotonic() >= deadline):
                raise
        await_result(asyncio.sleep(timeouts.LIMITS.retry_seconds))


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether the error means that another connection has locked the file."""
    # An error of Python's module, and not of SQLite, has no code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return code & 0xFF == sqlite3.SQLITE_BUSY
