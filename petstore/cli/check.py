"""flask check."""

from dataclasses import asdict

import click
from flask import current_app
from flask.cli import with_appcontext

from petstore.checks import run_checks
from petstore.cli.commands import Command
from petstore.cli.output import echo_json, json_option


@click.command(cls=Command)
@json_option
@with_appcontext
def check(*, as_json: bool) -> None:
    """Check the settings, the stores and the network, and say what to do."""
    results = run_checks(current_app.extensions["settings"])
    if as_json:
        echo_json(map(asdict, results))
    else:
        for result in results:
            click.echo(f"{result.check:<9} {result.status:<8} {result.message}")
    if any(result.is_wrong for result in results):
        raise click.exceptions.Exit(1)
