"""flask migrate."""

import click

from petstore.cli.commands import Command
from petstore.storage import migrator, opened_databases


@click.command(cls=Command)
def migrate() -> None:
    """Migrate the database; any number of processes may do so at once."""
    opened_databases().extend_timeouts()
    applied = []
    for step in migrator.migrate_in_steps():
        click.echo(f"applied {step}")
        applied.append(step)
    if newer := migrator.newer_version():
        click.echo(newer)
    elif not applied:
        click.echo("nothing to apply")
