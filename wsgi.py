"""The entry of gunicorn and other servers (`wsgi:app`), and of `flask`."""

import sys

import click
from flask.cli import FlaskGroup

import petstore
from petstore import cli
from petstore.settings import SettingError

# `flask` looks a command of ours up before it enters one; its own `run` needs it all.
# The command line of a server may be made with click, too.
command_line = click.get_current_context(silent=True)
looks_up_command = command_line and isinstance(command_line.command, FlaskGroup)

try:
    app = cli.create_app() if looks_up_command else petstore.create_app()
except SettingError as error:
    sys.exit(f"Error: {error}")
