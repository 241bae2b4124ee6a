"""flask migrate."""

import click

from petstore import migrator
from petstore.cli.commands import Command


@click.command(cls=Command)
def migrate() -> None:
    """Migrate the database; any number of processes may do so at once."""
    applied = migrator.migrate()
    for step in applied:
        click.echo(f"applied {step}")
    if not applied:
        click.echo("nothing to apply")
