"""gunicorn with a system call for each statement on SQLite, which strace sees.

python -m benchmarks.traced OPTIONS
"""

import os
import sqlite3
from typing import Any

from gunicorn.app.wsgiapp import run

MARK = b"a statement on SQLite"

_connect = sqlite3.connect
_nowhere = os.open(os.devnull, os.O_WRONLY)


def _traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
    connection = _connect(*arguments, **options)
    connection.set_trace_callback(lambda _: os.write(_nowhere, MARK))
    return connection


if __name__ == "__main__":
    sqlite3.connect = sqlite3.dbapi2.connect = _traced
    run()
