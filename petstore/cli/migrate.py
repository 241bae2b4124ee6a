"""flask migrate."""

import click

from petstore.cli.commands import Command
from petstore.storage import migrator, opened_databases


@click.command(cls=Command)
def migrate() -> None:
    """Migrate the database; any number of processes may do so at once."""
    opened_databases().extend_timeouts()
    applied = migrator.migrate()
    for step in applied:
        click.echo(f"applied {step}")
    if not applied:
        click.echo("nothing to apply")
