"""Pet Store Service: animals for adoption over HTTP."""

from flask import Flask

from petstore import api, cli, dashboard, database, docs, errors, ops, proxies
from petstore.domains import hosts
from petstore.ops import logs
from petstore.routing import Service
from petstore.settings import Settings, read_settings


def create_app(settings: Settings | None = None) -> Flask:
    """The application: each part once, in the order in which a request meets it."""
    settings = settings or read_settings()
    app = Service(__name__, static_folder=None)
    app.url_map.merge_slashes = False
    logs.init_app(app)
    proxies.init_app(app, settings)
    database.init_app(app, settings)
    errors.init_app(app)
    hosts.init_app(app, settings)
    api.init_app(app, settings)
    docs.init_app(app, settings)
    dashboard.init_app(app, settings)
    ops.init_app(app)
    cli.init_app(app, settings)
    return app
