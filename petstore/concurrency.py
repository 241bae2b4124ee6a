"""Greenlets or threads: what the service has to know about how it is run.

Under gunicorn's gevent worker each request is a greenlet. What waits in the standard
library or in a library written in Python lets other requests go on, and so does
`give_way`. Under `flask run` and in commands the same code runs in threads.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context
from importlib import import_module
from typing import Any, TypeVar

Result = TypeVar("Result")

log = logging.getLogger(__name__)


def uses_greenlets() -> bool:
    """Return whether gevent has replaced the blocking calls of this process.

    It may do so after this module was imported.
    """
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and monkey.is_module_patched("threading")


def call_in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function that blocks in C, such as a COMMIT of SQLite.

    Other greenlets go on meanwhile. A thread calls it itself, and waits.
    """
    if uses_greenlets():
        pool = sys.modules["gevent"].get_hub().threadpool
        result: Result = pool.spawn(function, *arguments).get()
        return result
    return function(*arguments)


def give_way() -> None:
    """Let others go on, between two parts of what computes for long.

    A part should take some milliseconds, and at most 20.
    """
    # A positive time: gevent looks at sockets and timers only every fiftieth time that
    # somebody sleeps for 0, so that requests on their way would not be let in.
    time.sleep(1e-6)


def original(module: str, name: str) -> Any:
    """Return what gevent has replaced in a module, as the standard library has it.

    It is for real threads, which must not use what gevent has put in its place.
    """
    if uses_greenlets():
        return sys.modules["gevent.monkey"].get_original(module, name)
    return getattr(import_module(module), name)


def start(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in the background, in a greenlet or thread of its own.

    A fault is logged like one of a request.
    """

    def call() -> None:
        try:
            function(*arguments)
        except Exception:
            log.exception("internal_error")

    # Without the context of the caller, whose deadline it would have.
    threading.Thread(target=Context().run, args=(call,), daemon=True).start()


def call_within(
    seconds: float, function: Callable[..., Result], *arguments: Any
) -> Result:
    """Call a function that knows no time limit, such as the look-up of a name.

    Raises `TimeoutError` where it takes longer; it then goes on in the background.
    """
    result: Future[Result] = Future()

    def call() -> None:
        try:
            result.set_result(function(*arguments))
        except Exception as error:  # noqa: BLE001 (the caller gets it)
            result.set_exception(error)

    start(call)
    return result.result(seconds)


class Delayed:
    """Calls a function in the background some time after `start`.

    Until then, further starts change nothing.
    """

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self.is_started = False

    def start(self, seconds: float) -> None:
        if not self.is_started:
            self.is_started = True
            start(self._call, seconds)

    def _call(self, seconds: float) -> None:
        time.sleep(seconds)
        self.is_started = False
        self._function()
