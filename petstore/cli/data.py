"""flask data backup and copy."""

import os
from contextlib import closing
from pathlib import Path

import click
import peewee

from petstore import urls
from petstore.cli.commands import Group
from petstore.copies.backup import BackupFailed, back_up
from petstore.copies.transfer import CopyRefused, copy_all
from petstore.database import Databases, databases_at, is_sqlite, opened_databases

data = Group(name="data", help="Copies of the data.")


@data.command()
@click.argument("file", type=click.Path(path_type=Path))
def backup(file: Path) -> None:
    """Copy the data of SQLite, without counters, into a new file."""
    source = opened_databases().data
    if not is_sqlite(source):
        raise click.ClickException("DATABASE_URL is PostgreSQL: back it up by pg_dump.")
    if os.path.lexists(file):
        raise click.UsageError(f"There is a file {file} already.")
    try:
        back_up(source, file)
    except BackupFailed as error:
        raise click.ClickException(f"There is no backup: {error}.") from None


@data.command()
@click.argument("database_url")
def copy(database_url: str) -> None:
    """Copy everything, with ids and counters, into an empty database."""
    with closing(_databases(database_url)) as target:
        try:
            count = copy_all(opened_databases(), target)
        except CopyRefused as refused:
            raise click.UsageError(f"Nothing is copied there: {refused}.") from None
        except peewee.DatabaseError as error:
            reason = " ".join(str(error).split())
            raise click.ClickException(f"Nothing was copied: {reason}") from None
    click.echo(f"copied {count} rows")


def _databases(url: str) -> Databases:
    try:
        databases = databases_at(urls.database_url(url), prepares_statements=False)
        databases.extend_timeouts()
    except ValueError as error:
        raise click.UsageError(f"The argument DATABASE_URL: {error}.") from None
    return databases
