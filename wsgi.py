"""The entry of gunicorn and other servers (`wsgi:app`), and of `flask`."""

import sys
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse

import click
from flask.cli import FlaskGroup

import petstore
from petstore import cli
from petstore.events import emit
from petstore.settings import SERVER_SOFTWARE, SettingError

# `flask` looks a command of ours up before it enters one; its own `run` needs it all.
command_line = click.get_current_context(silent=True)
looks_up_command = command_line and isinstance(command_line.command, FlaskGroup)

try:
    app = cli.create_app() if looks_up_command else petstore.create_app()
except SettingError as error:
    sys.exit(f"Error: {error}")

application = app.wsgi_app


def respond_first(
    environ: dict[str, Any], start_response: StartResponse
) -> Iterable[bytes]:
    """Log if the server is another one than those for which promises are made."""
    app.wsgi_app = application  # type: ignore[method-assign]
    software = environ.get("SERVER_SOFTWARE", "")
    if not software.startswith((SERVER_SOFTWARE, "Werkzeug/")):
        emit("other_server", software=software, promised="gunicorn wsgi:app")
    return application(environ, start_response)


# As Flask's documentation adds a middleware; mypy sees a method.
app.wsgi_app = respond_first  # type: ignore[method-assign]
