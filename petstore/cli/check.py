"""flask check."""

import click
from flask import current_app
from flask.cli import with_appcontext

from petstore.cli.checks import CHECKS
from petstore.cli.commands import Command
from petstore.cli.output import echo_json, json_option


@click.command(cls=Command)
@json_option
@with_appcontext
def check(*, as_json: bool) -> None:
    """Check the settings, the stores and the network, and say what to do."""
    settings = current_app.extensions["settings"]
    results = [(name, *run(settings)) for name, run in CHECKS.items()]
    if as_json:
        names = ("check", "status", "message")
        echo_json(dict(zip(names, result, strict=True)) for result in results)
    else:
        for name, status, message in results:
            click.echo(f"{name:<9} {status:<8} {message}")
    if any(status == "wrong" for _, status, _ in results):
        raise click.exceptions.Exit(1)
