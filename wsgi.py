"""The entry of gunicorn (`wsgi:app`) and of `flask`."""

import sys

import click

import petstore
from petstore import cli
from petstore.settings import SettingError

# `flask` looks a command of ours up before it enters one; its own `run` needs it all.
command_line = click.get_current_context(silent=True)
looks_up_command = command_line is not None and command_line.parent is None

try:
    app = cli.create_app() if looks_up_command else petstore.create_app()
except SettingError as error:
    sys.exit(f"Error: {error}")
