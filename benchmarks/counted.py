"""gunicorn for a worker that is counted under valgrind or strace.

    python -m benchmarks.counted OPTIONS

Valgrind makes it fifty times slower, so that short time limits would end requests. What
a worker does from time to time it does not do while requests are counted.
"""

import os
import sqlite3
from dataclasses import asdict, replace
from typing import Any

from gunicorn.app.wsgiapp import WSGIApplication

from benchmarks.steps import MARKS, mark_steps
from petstore import timeouts

TIMES = 1000
TRACED = "TRACED"  # the variable that asks for a system call for each SQLite statement
STATEMENT = b"a statement on SQLite"

_connect = sqlite3.connect
_nowhere = os.open(os.devnull, os.O_WRONLY)


class Counted(WSGIApplication):
    """gunicorn, which loads the application in its worker."""

    def load_wsgiapp(self) -> Any:
        """Load it, and mark the steps of its requests if somebody counts them."""
        application = super().load_wsgiapp()
        if MARKS in os.environ:
            mark_steps()
        return application


def _traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
    connection = _connect(*arguments, **options)
    connection.set_trace_callback(lambda _: os.write(_nowhere, STATEMENT))
    return connection


if __name__ == "__main__":
    limits = asdict(timeouts.LIMITS).items()
    slower = {
        name: TIMES * limit for name, limit in limits if name.endswith("_seconds")
    }
    timeouts.LIMITS = replace(timeouts.LIMITS, **slower)
    if TRACED in os.environ:
        sqlite3.connect = sqlite3.dbapi2.connect = _traced
    Counted("%(prog)s [OPTIONS] APP").run()
