"""flask check."""

from dataclasses import asdict

import click
from flask import current_app
from flask.cli import with_appcontext

from petstore.checks import Finding, findings
from petstore.cli.lists import echo_json, json_option
from petstore.cli.terse import QuickCommand


@click.command(cls=QuickCommand)
@json_option
@with_appcontext
def check(*, as_json: bool) -> None:
    """Say of each thing that an operator would look at whether it is well."""
    found = findings(current_app.extensions["settings"])
    if as_json:
        echo_json(map(asdict, found))
    else:
        _echo(found)
    if any(finding.is_wrong for finding in found):
        raise click.exceptions.Exit(1)


def _echo(found: list[Finding]) -> None:
    for finding in found:
        click.echo(f"{finding.check:<9} {finding.status:<8} {finding.message}")
