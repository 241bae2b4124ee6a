"""Greenlets or threads: what the service has to know about how it is run.

Under gunicorn's gevent worker each request is a greenlet. What waits in the standard
library or in a library written in Python lets other requests go on, and so does
`time.sleep(0)`. Under other servers and in commands the same code runs in threads.
"""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

_monkey = sys.modules.get("gevent.monkey")
# Whether gevent has replaced the blocking calls of this process.
USES_GREENLETS = _monkey is not None and _monkey.is_module_patched("threading")

if USES_GREENLETS:
    import gevent


def call_in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function that blocks in C, such as a COMMIT of SQLite.

    Other greenlets go on meanwhile. A thread calls it itself, and waits.
    """
    if USES_GREENLETS:
        result: Result = gevent.get_hub().threadpool.apply(function, arguments)
        return result
    return function(*arguments)


def start(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in the background, in a greenlet or thread of its own."""
    threading.Thread(target=function, args=arguments, daemon=True).start()


class Delayed:
    """Calls a function in the background some time after `start`.

    Until then, further starts change nothing.
    """

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._is_started = False

    def start(self, seconds: float) -> None:
        """Have the function called after so many seconds."""
        if not self._is_started:
            self._is_started = True
            start(self._call, seconds)

    def _call(self, seconds: float) -> None:
        time.sleep(seconds)
        self._is_started = False
        self._function()
