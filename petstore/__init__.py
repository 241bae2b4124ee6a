"""Pet Store Service: animals for adoption over HTTP."""

from flask import Flask

from petstore import (
    api,
    cli,
    dashboard,
    database,
    docs,
    error_handlers,
    ops,
    proxies,
    quotas,
    routing,
)
from petstore.domains import hosts
from petstore.ops import logs
from petstore.settings import Settings, read_settings


def create_app(settings: Settings | None = None) -> Flask:
    """Make the application: each part once, in the order in which a request meets it.

    Raises `SettingError`.
    """
    settings = settings or read_settings()
    app = routing.Service(__name__, static_folder=None)
    logs.init_app(app)
    proxies.init_app(app, settings)
    database.open_databases(settings)
    error_handlers.init_app(app)
    routing.init_app(app)
    quotas.init_app(app, settings)
    hosts.init_app(app, settings)
    api.init_app(app, settings)
    docs.init_app(app, settings)
    dashboard.init_app(app, settings)
    ops.init_app(app)
    cli.init_app(app, settings)
    return app
