"""Pet Store Service: animals for adoption over HTTP."""

from collections.abc import Callable
from typing import Any

from flask import Flask

from petstore import api, cli, database, docs, errors, ops, proxies
from petstore.edge import refusals
from petstore.ops import logs
from petstore.settings import Settings, read_settings


class Service(Flask):
    """Flask, spared a question that it asks of every hook at every request."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The hook or view itself: none of them is a coroutine."""
        return func


def create_app(settings: Settings | None = None) -> Flask:
    """The application: each part once, in the order in which a request meets it."""
    settings = settings or read_settings()
    app = Service(__name__, static_folder=None)
    app.url_map.merge_slashes = False
    logs.init_app(app)
    refusals.init_app(app)
    proxies.init_app(app, settings)
    database.init_app(app, settings)
    errors.init_app(app)
    api.init_app(app, settings)
    docs.init_app(app, settings)
    ops.init_app(app)
    cli.init_app(app)
    return app
