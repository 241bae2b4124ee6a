"""An application without a server: it answers requests that come as lines of JSON.

    python -m benchmarks.alone wsgi [pieces]

Each line holds a list of requests. The program writes "ready" when it has read them, so
that a counter can be set to zero, waits for a line, answers them, and writes their
status codes; with "pieces" also, for each request, the statements that SQLite executed
and the most bytes that Python had allocated at a time. Requests run in an event loop,
and wait as they do in a worker.
"""

import asyncio
import contextlib
import gc
import importlib
import json
import os
import sqlite3
import sys
import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

import uvloop
from werkzeug.test import EnvironBuilder

from petstore import waiting
from tests.harness.patience import be_patient

STDOUT = 1

Application = Callable[..., Iterable[bytes]]

_statements: list[str] = []
_connections: list[sqlite3.Connection] = []


def main(name: str, *options: str) -> None:
    """Answer until there are no more lines."""
    channel = os.fdopen(os.dup(STDOUT), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)  # for the log
    answer = _answer
    if "pieces" in options:
        sys.addaudithook(_note_connection)
        answer = _count_pieces
    be_patient()
    app = importlib.import_module(name).app
    gc.freeze()  # as a worker does
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for line in sys.stdin:
            environs = [_environ(*request) for request in json.loads(line)]
            print("ready", file=channel, flush=True)
            sys.stdin.readline()
            found = runner.run(_answer_all(answer, app, environs))
            print(json.dumps(found), file=channel, flush=True)


async def _answer_all(
    answer: Callable[..., None], app: Application, environs: list[dict[str, Any]]
) -> list[Any]:
    waiting.use_running_loop()
    found: list[Any] = []
    for environ in environs:
        task = waiting.start(answer, app, environ, found)
        if task:
            await task
    return found


def _answer(app: Application, environ: dict[str, Any], found: list[int]) -> None:
    def start_response(status: str, headers: object, exc_info: object = None) -> None:
        found.append(int(status[:3]))

    body: Any = app(environ, start_response)
    for _ in body:
        pass
    if hasattr(body, "close"):
        body.close()


def _count_pieces(
    app: Application, environ: dict[str, Any], found: list[tuple[int, ...]]
) -> None:
    for connection in _connections:
        with contextlib.suppress(
            sqlite3.ProgrammingError
        ):  # closed, or another thread's
            connection.set_trace_callback(_statements.append)
    _statements.clear()
    statuses: list[int] = []
    tracemalloc.start()
    _answer(app, environ, statuses)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    found.append((*statuses, len(_statements), peak))


def _environ(
    method: str,
    path: str,
    headers: dict[str, str],
    body: str,
    address: str,
    expected: int,
) -> dict[str, Any]:
    builder = EnvironBuilder(path, method=method, headers=headers, data=body)
    return builder.get_environ() | {"REMOTE_ADDR": address}


def _note_connection(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "sqlite3.connect/handle":
        _connections.append(arguments[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
