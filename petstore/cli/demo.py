"""flask demo."""

import click

from petstore.cli.commands import DatabaseCommand
from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from petstore.storage import db

ANIMALS = {
    "Dogs": ("Rex", "Bella", "Bruno", "Luna"),
    "Cats": ("Felix", "Mimi", "Tom"),
    "Rabbits": ("Klopfer", "Hazel", "Fiver"),
}


@click.command(cls=DatabaseCommand)
def demo() -> None:
    """Create a project with animals and an order, and print its key.

    Only for a database without projects.
    """
    with db.atomic():
        if Project.all_by_slug():
            raise click.UsageError("The database has a project already.")
        project = Project.add("Demo", None, Plan("free"))
        for category_id, (name, animals) in enumerate(ANIMALS.items(), start=1):
            for animal in animals:
                pet = Pet.add(
                    project.id, name=animal, category_id=category_id, status="available"
                )
            Category.rename(project.id, category_id, name)
        Order.place(project.id, pet.id)
        key = Key.issue(project, label="demo")
    click.echo(key)
