"""flask serve."""

import os
import sys

import click

from petstore.cli.commands import Command

CONFIGURATION = "python:petstore.gunicorn_conf"


@click.command(cls=Command, context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def serve(options: tuple[str, ...]) -> None:
    """Serve with gunicorn and its OPTIONS; PORT names the port."""
    gunicorn = (sys.executable, "-m", "gunicorn", "--config", CONFIGURATION)
    os.execv(sys.executable, (*gunicorn, *options, "petstore.wsgi:app"))  # noqa: S606 (no shell)
