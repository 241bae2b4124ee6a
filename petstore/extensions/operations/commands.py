"""flask check, and flask data backup and copy."""

import os
from pathlib import Path

import click
import peewee

from petstore import clock, settings
from petstore.cli.commands import Group, in_one_line, say
from petstore.extensions.operations import copies
from petstore.extensions.operations.check import LAST_BACKUP, check
from petstore.models.secrets import Secret
from petstore.storage.database import opened_databases

__all__ = ["check", "data"]

data = Group(name="data", help="Copies of the data.")


@data.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
def back_up(file: Path) -> None:
    """Copy an SQLite database, without counters, into a new file."""
    source = opened_databases().db
    if source.file is None:
        raise click.ClickException("DATABASE_URL is PostgreSQL: back it up by pg_dump.")
    if os.path.lexists(file):
        raise click.UsageError(f"There is {file} already; name a new file.")
    if not file.parent.is_dir():
        raise click.UsageError(f"There is no directory {file.parent}.")
    try:
        copies.back_up(source, file)
    except copies.CopyFailed as error:
        raise click.ClickException(f"The backup failed: {error}.") from None
    Secret.put(LAST_BACKUP, str(clock.now_ms()))
    say(f"Copied {source.file} to {file}.")


@data.command()
@click.argument("database_url")
def copy(database_url: str) -> None:
    """Copy everything, with ids and counters, into an empty database.

    Give its password in PGPASSWORD: other users can see the arguments of a program.
    """
    try:
        url = settings.database_url(database_url)
    except ValueError as error:
        raise click.UsageError(f"The argument DATABASE_URL: {error}.") from None
    try:
        copies.copy_to(url)
    except copies.CopyFailed as error:
        raise click.UsageError(f"Cannot copy there: {error}.") from None
    except peewee.DatabaseError as error:
        message = f"Nothing was copied: {in_one_line(error)}"
        raise click.ClickException(message) from None
    say("Copied everything there.")
