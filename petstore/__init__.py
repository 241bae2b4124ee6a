"""Pet Store Service: animals for adoption over HTTP."""

from typing import TYPE_CHECKING

from petstore.settings import Settings, read_settings

if TYPE_CHECKING:  # gunicorn.conf.py imports the settings, and must not import Flask
    from flask import Flask


def create_app(settings: Settings | None = None) -> "Flask":
    """Make the application from its parts, in the order in which a request meets them.

    Raises `SettingError`.
    """
    # Commands need none of these imports, and start in half the time without them.
    from petstore import api, cli, extensions
    from petstore.storage.database import open_databases
    from petstore.web import (
        application,
        assets,
        error_handlers,
        front,
        health,
        limiter,
        proxies,
        request_log,
        turns,
    )

    settings = settings or read_settings()
    app = application.Application(__name__, static_folder=None)
    application.init_app(app)
    limiter.init_app(app, settings)
    turns.init_app(app)
    request_log.init_app(app)
    health.init_app(app)
    proxies.init_app(app, settings)
    open_databases(settings)
    error_handlers.init_app(app)
    assets.init_app(app)
    front.init_app(app)
    for extension in extensions.imported(settings.extensions):
        extension.init_app(app, settings)
    api.init_app(app, settings)
    cli.init_app(app, settings)
    return app
