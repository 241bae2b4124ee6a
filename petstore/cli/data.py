"""flask migrate, flask demo, and flask data backup and copy."""

import os
from pathlib import Path

import click
import peewee

from petstore import settings
from petstore.cli.commands import Command, DatabaseCommand, Group, in_one_line, say
from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.plans import FREE
from petstore.models.projects import Plan, Project
from petstore.storage import copies, db, migrator
from petstore.storage.database import opened_databases

DEMO_ANIMALS = {
    "Dogs": ("Rex", "Bella", "Bruno", "Luna"),
    "Cats": ("Felix", "Mimi", "Tom"),
    "Rabbits": ("Klopfer", "Hazel", "Fiver"),
}


@click.command(cls=Command)
def migrate() -> None:
    """Migrate the database; any number of processes may do so at the same time."""
    opened_databases().extend_timeouts()
    applied = []
    for step in migrator.migrate_in_steps():
        click.echo(f"applied {step}")
        applied.append(step)
    if newer := migrator.newer_version():
        click.echo(newer)
    elif not applied:
        click.echo("nothing to apply")


@click.command(cls=DatabaseCommand)
def demo() -> None:
    """Create a project with animals and an order, and print its key.

    Only for a database without projects.
    """
    with db.atomic():
        if Project.all_by_slug():
            raise click.UsageError("The database has a project already.")
        project = Project.add("Demo", None, Plan(FREE))
        for category_id, (name, animals) in enumerate(DEMO_ANIMALS.items(), start=1):
            for animal in animals:
                pet = Pet.add(
                    project.id, name=animal, category_id=category_id, status="available"
                )
            Category.rename(project.id, category_id, name)
        Order.place(project.id, pet.id)
        key = Key.issue(project, label="demo")
    click.echo(key)
    say("Created the project Demo with ten animals, an order and this key.")


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
