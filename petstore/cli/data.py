"""flask migrate and flask demo."""

import click

from petstore.cli.commands import Command, DatabaseCommand, say
from petstore.models.callers import select_by_prefix
from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.plans import FREE
from petstore.models.projects import Plan, Project
from petstore.storage import db, migrator
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
    for step in migrator.migrate():
        click.echo(f"applied {step}")
        applied.append(step)
    select_by_prefix.make_function(migrator.MIGRATION_LOCK)
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
