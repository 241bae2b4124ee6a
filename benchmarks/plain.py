"""Runs a module without one of the mechanisms that are there for speed.

python -m benchmarks.plain "routes by path" gunicorn wsgi:app
"""

import asyncio
import runpy
import sys
import types
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any


def _generated_dumper() -> None:
    # `Contract` takes it from this module, while petstore is imported.
    module = types.ModuleType("petstore.schemas.dumping")
    module.dumper_of = lambda schema: schema.dump
    sys.modules[module.__name__] = module


def _json_as_it_is() -> None:
    from petstore.web.responses import ApplicationResponse, JsonResponse

    def make(self: Any, body: bytes, status: int = 200, headers: Any = ()) -> None:
        json_type = "application/json"
        ApplicationResponse.__init__(
            self, body, status, dict(headers), content_type=json_type
        )

    JsonResponse.__init__ = make
    del JsonResponse.get_wsgi_response
    del JsonResponse.content_length


def _headers_in_one_place() -> None:
    from petstore.web import responses

    def get_wsgi_response(self: Any, environ: Any) -> Any:
        self.headers.extend(responses.current_request().state.headers)
        return super(responses.ApplicationResponse, self).get_wsgi_response(environ)

    responses.ApplicationResponse.get_wsgi_response = get_wsgi_response
    _json_as_it_is()


def _routes_by_path() -> None:
    from petstore.web.application import Application

    del Application.create_url_adapter


def _views_as_they_are() -> None:
    from petstore.web.application import Application

    del Application.ensure_sync


def _request_itself() -> None:
    from flask import request

    from petstore.web import application

    _replace(application.current_request, lambda: request)


def _replace(old: object, new: object) -> None:
    """Replace an object under every name that it has in the service."""
    for name, module in list(sys.modules.items()):
        if name.startswith("petstore."):
            for each in [each for each, value in vars(module).items() if value is old]:
                setattr(module, each, new)


def _written_statements() -> None:
    from petstore.storage.queries import Statement

    # What is written is not kept.
    Statement._written = property(lambda self: {}, lambda self, value: None)


def _group_commit() -> None:
    from petstore.storage.engines.group_commit import GroupCommit

    begin = GroupCommit.begin

    def begin_alone(self: Any) -> Any:
        transaction = begin(self)
        transaction.is_open = False  # to other requests
        return transaction

    GroupCommit.begin = begin_alone


def _commit_in_a_thread() -> None:
    from petstore.storage.engines.group_commit import Writer

    def commit(self: Any, callback: Callable[[None], None]) -> None:
        self.connection.execute("COMMIT")
        callback(None)

    Writer.commit = commit


def _rare_checkpoints() -> None:
    from petstore import timeouts

    # The default of SQLite.
    timeouts.LIMITS = replace(timeouts.LIMITS, counter_pages=1000)


def _shared_inserts() -> None:
    from petstore.storage.engines.batches import Batches

    async def insert(self: Any, key: Any, written: Any, values: Any) -> int:
        [row_id] = await self._run((key, written), lambda: [values])
        return row_id

    Batches.insert = insert


def _balancing() -> None:
    from petstore.server import balancing

    balancing.others_have_fewer = lambda connections: False


def _own_pool() -> None:
    import asyncpg
    from petstore.storage.engines.connection import PostgresConnection

    from petstore import timeouts
    from petstore.storage.engines import postgresql

    class Pool:
        """The pool of asyncpg, without its reset, which is one more round trip."""

        lock_seconds = timeouts.LIMITS.lock_seconds

        def __init__(self, connect: Callable[[], Any], **_: object) -> None:
            self.loop = asyncio.get_running_loop()
            self._tasks: set[asyncio.Task[None]] = set()
            self._pool = asyncpg.create_pool(
                connect=lambda *_, **__: connect(),
                connection_class=PostgresConnection,
                min_size=0,
                max_size=6,
                reset=_keep,
            )

        async def acquire(self) -> Any:
            await self._pool  # opens it at the first call
            return await self._pool.acquire()

        async def acquire_to_write(self, key: object) -> Any:
            return await self.acquire()

        def release(self, connection: Any) -> None:
            self.loop.create_task(self._pool.release(connection))

        def start(self, coroutine: Coroutine[None, None, None]) -> None:
            self._tasks.add(self.loop.create_task(coroutine))

        async def close(self) -> None:
            self._pool.terminate()

    async def _keep(connection: Any) -> None:
        pass

    postgresql.Pool = Pool


MECHANISMS: dict[str, Callable[[], None]] = {
    "generated dumper": _generated_dumper,
    "JSON as it is": _json_as_it_is,
    "headers in one place": _headers_in_one_place,
    "routes by path": _routes_by_path,
    "views as they are": _views_as_they_are,
    "request itself": _request_itself,
    "written statements": _written_statements,
    "group commit": _group_commit,
    "commit in a thread": _commit_in_a_thread,
    "rare checkpoints": _rare_checkpoints,
    "shared inserts": _shared_inserts,
    "balancing": _balancing,
    "own pool": _own_pool,
}


if __name__ == "__main__":
    _, name, module, *arguments = sys.argv
    if name:  # else the service as it is
        MECHANISMS[name]()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
