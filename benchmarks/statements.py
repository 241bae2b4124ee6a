"""An application whose statements on SQLite are counted: that of the module $COUNTED.

It tells their number at one more path.
"""

import importlib
import os
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

PATH = "/statements"

_seen = 0


class Counted:
    """The application, to which the hooks of gunicorn look as well."""

    def __init__(self, counted: Callable[..., Iterable[bytes]]) -> None:
        self._counted = counted

    def __getattr__(self, name: str) -> Any:
        return getattr(self._counted, name)

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        if environ["PATH_INFO"] != PATH:
            return self._counted(environ, start_response)
        body = str(_seen).encode()
        start_response("200 OK", [("Content-Length", str(len(body)))])
        return [body]


def _connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
    connection = _real_connect(*arguments, **options)
    connection.set_trace_callback(_count)
    return connection


def _count(statement: str) -> None:
    global _seen
    _seen += 1


if "COUNTED" in os.environ:
    _real_connect = sqlite3.connect
    sqlite3.connect = sqlite3.dbapi2.connect = _connect
    app = Counted(importlib.import_module(os.environ["COUNTED"]).app)
