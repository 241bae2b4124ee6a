"""Requests of this process, carried out as a worker of gunicorn does it."""

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
    """The event loop of a worker, in a thread of its own."""

    def __init__(self) -> None:
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a call that may wait; raises what it raises."""
        context = contextvars.copy_context()
        calling = self._call(context, function, *arguments)
        return asyncio.run_coroutine_threadsafe(calling, self._loop).result()

    async def _call(self, context: Any, function: Callable, *arguments: Any) -> Any:
        result = asyncio.get_running_loop().create_future()

        def run() -> None:
            try:
                result.set_result(context.run(function, *arguments))
            except Exception as error:  # noqa: BLE001 (it is the caller's)
                result.set_exception(error)

        if task := waiting.start(run):
            await task
        return await result

    def close(self) -> None:
        """End it, without a connection left open."""
        asyncio.run_coroutine_threadsafe(_settle(), self._loop).result()
        self.call(databases.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _settle() -> None:
    """Let what requests have begun come to its end, such as a connection."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=SETTLED_WITHIN_SECONDS)
    await asyncio.get_running_loop().shutdown_default_executor()


@contextmanager
def in_worker(app: Flask) -> Iterator[None]:
    """Let the requests of the block be carried out in such a loop."""
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
