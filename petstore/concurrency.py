"""Greenlets or threads: what the code has to know about how it runs.

Under gunicorn's gevent worker each request is a greenlet. A call that waits in the
standard library, or in a library written in Python, lets other requests run. So does
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

    The worker imports this module before that happens, so the answer may change.
    """
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and monkey.is_module_patched("threading")


def call_in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function that blocks in C, such as a COMMIT of SQLite.

    Under gevent a real thread calls it, and other greenlets run meanwhile. Otherwise
    the thread of the caller calls it.
    """
    if uses_greenlets():
        pool = sys.modules["gevent"].get_hub().threadpool
        result: Result = pool.spawn(function, *arguments).get()
        return result
    return function(*arguments)


def give_way() -> None:
    """Let other requests run, between two parts of a long computation.

    A part should take some milliseconds, and at most 20.
    """
    # Not 0: gevent would look at sockets and timers only every fiftieth time, and let
    # no new request in.
    time.sleep(1e-6)


def original(module: str, name: str) -> Any:
    """Return what a module of the standard library had before gevent replaced it.

    Real threads must use this, because gevent's replacement is for greenlets.
    """
    if uses_greenlets():
        return sys.modules["gevent.monkey"].get_original(module, name)
    return getattr(import_module(module), name)


def start(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in the background, in its own greenlet or thread.

    An exception is logged like one of a request.
    """
    # In a new context: that of the caller has the deadline of its request.
    call = (call_and_log, function, *arguments)
    threading.Thread(target=Context().run, args=call, daemon=True).start()


def call_and_log(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function; log its exception, so that what comes after it goes on."""
    try:
        function(*arguments)
    except Exception:
        log.exception("internal_error")


def call_within(
    seconds: float, function: Callable[..., Result], *arguments: Any
) -> Result:
    """Call a function that takes no timeout, such as the look-up of a name.

    Raises `TimeoutError` if it takes longer; it then goes on in the background.
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
    """Calls a function in the background, some time after `start`.

    Until the function is called, further calls of `start` do nothing.
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
