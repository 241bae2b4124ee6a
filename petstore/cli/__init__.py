"""The operator's command line: flask migrate, projects, keys and others."""

from flask import Flask

from petstore.cli.commands import CommandLine
from petstore.settings import Settings, read_settings
from petstore.storage.database import open_databases


def init_app(app: Flask, settings: Settings) -> None:
    app.extensions["settings"] = settings
    app.cli = CommandLine(settings.extensions)


def create_app() -> Flask:
    """Make an application that only has the commands; raises `SettingError`."""
    settings = read_settings()
    app = Flask(__name__, static_folder=None)
    open_databases(settings)
    init_app(app, settings)
    return app
