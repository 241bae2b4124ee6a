"""Serve requests in this process as a gunicorn worker does."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvloop
from flask import Flask

from petstore import waiting
from tests import databases

SETTLED_WITHIN_SECONDS = 5


class Loop:
    """A worker's event loop, running in its own thread."""

    def __init__(self) -> None:
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in the loop, and return its result or raise its exception."""
        context = contextvars.copy_context()
        calling = self._call(context, function, *arguments)
        return asyncio.run_coroutine_threadsafe(calling, self._loop).result()

    async def _call(self, context: Any, function: Callable, *arguments: Any) -> Any:
        result = asyncio.get_running_loop().create_future()

        def run() -> None:
            try:
                result.set_result(context.run(function, *arguments))
            except Exception as error:  # noqa: BLE001 (re-raised in the caller)
                result.set_exception(error)

        if task := waiting.start(run):
            await task
        return await result

    def close(self) -> None:
        """Stop the loop and close its connections."""
        asyncio.run_coroutine_threadsafe(_settle(), self._loop).result()
        self.call(databases.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def run_requests(*functions: Callable[[], object]) -> None:
    """Call the functions as requests that arrive in one iteration of an event loop."""

    async def main() -> None:
        tasks = [waiting.start(function) for function in functions]
        await asyncio.gather(*filter(None, tasks))

    asyncio.run(main())


async def _settle() -> None:
    """Wait for tasks that requests have started, such as opening a connection."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=SETTLED_WITHIN_SECONDS)
    await asyncio.get_running_loop().shutdown_default_executor()


@contextmanager
def in_worker(app: Flask) -> Iterator[None]:
    """Serve the requests of the block in a `Loop`."""
    loop, own = Loop(), app.wsgi_app

    def serve(*arguments: Any) -> list[bytes]:
        pieces = own(*arguments)
        try:
            return list(pieces)
        finally:
            if hasattr(pieces, "close"):
                pieces.close()

    app.wsgi_app = lambda *arguments: loop.call(serve, *arguments)
    try:
        yield
    finally:
        app.wsgi_app = own
        loop.close()
