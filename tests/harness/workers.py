"""Serve requests in this process as a gunicorn worker does."""

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask

from petstore import waiting
from tests.harness import databases

SETTLED_WITHIN_SECONDS = 5


def call_in_loop(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function as a request in the process's event loop; return its result."""
    context = contextvars.copy_context()
    call = _call(context, function, *arguments)
    return asyncio.run_coroutine_threadsafe(call, waiting.event_loop()).result()


async def _call(context: Any, function: Callable, *arguments: Any) -> Any:
    result = asyncio.get_running_loop().create_future()

    def run() -> None:
        try:
            result.set_result(context.run(function, *arguments))
        except Exception as error:  # noqa: BLE001 (re-raised in the caller)
            result.set_exception(error)

    if task := waiting.start(run):
        await task
    return await result


def run_requests(*functions: Callable[[], object]) -> None:
    """Call the functions as requests that arrive in one iteration of the event loop."""

    async def main() -> None:
        tasks = [waiting.start(function) for function in functions]
        await asyncio.gather(*filter(None, tasks))

    asyncio.run_coroutine_threadsafe(main(), waiting.event_loop()).result()


# As requests of a worker, and as a command or another server calls them.
both_callers = pytest.mark.parametrize(
    "run", [run_requests, lambda *functions: [function() for function in functions]]
)


@contextmanager
def in_worker(app: Flask) -> Iterator[None]:
    """Serve the requests of the block in the process's event loop."""
    own = app.wsgi_app

    def serve(*arguments: Any) -> list[bytes]:
        pieces = own(*arguments)
        try:
            return list(pieces)
        finally:
            if hasattr(pieces, "close"):
                pieces.close()

    app.wsgi_app = lambda *arguments: call_in_loop(serve, *arguments)
    try:
        yield
    finally:
        app.wsgi_app = own
        asyncio.run_coroutine_threadsafe(_settle(), waiting.event_loop()).result()
        call_in_loop(databases.close)


async def _settle() -> None:
    """Wait for tasks that requests have started, such as opening a connection."""
    # A call in the background may sleep, and finds nothing to do when it wakes up.
    others = asyncio.all_tasks() - {asyncio.current_task()}
    others -= waiting.background_tasks
    if others:
        await asyncio.wait(others, timeout=SETTLED_WITHIN_SECONDS)
