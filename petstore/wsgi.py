"""The application for gunicorn and other servers, and for `flask`."""

import sys
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse

import click
from flask.cli import FlaskGroup, run_command

import petstore
from petstore import cli
from petstore.events import emit
from petstore.settings import SERVER_SOFTWARE, SettingError
from petstore.storage import migrator
from petstore.storage.database import opened_databases

# When `flask` loads this module to find one of our commands, the context of click is
# that of a group. Commands need no routes, and start in half the time without them.
# `flask run` loads this module from within `run`, and serves the whole application. It
# is refused where gunicorn is.
command_line = click.get_current_context(silent=True)
finds_command = command_line and isinstance(command_line.command, FlaskGroup)

try:
    app = cli.create_app() if finds_command else petstore.create_app()
    if command_line and command_line.command is run_command:
        migrator.require_migrated()
        opened_databases().close()
except (SettingError, migrator.NotMigrated) as error:
    sys.exit(f"Error: {error}")

application = app.wsgi_app


def respond_first(
    environ: dict[str, Any], start_response: StartResponse
) -> Iterable[bytes]:
    """Log, with the first request, if no promise is made for this server."""
    app.wsgi_app = application  # type: ignore[method-assign]
    software = environ.get("SERVER_SOFTWARE", "")
    if not software.startswith((SERVER_SOFTWARE, "Werkzeug/")):
        emit("other_server", software=software, promised="gunicorn wsgi:app")
    return application(environ, start_response)


# Flask's documentation adds a middleware like this; mypy sees a method.
app.wsgi_app = respond_first  # type: ignore[method-assign]
