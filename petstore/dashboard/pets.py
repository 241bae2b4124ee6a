"""/dashboard/animals: the project's animals, read-only."""

from functools import partial

from flask import g, render_template

from petstore.dashboard.lists import read_page
from petstore.dashboard.pages import pages_blueprint
from petstore.models.categories import Category
from petstore.models.pets import STATUSES, Pet
from petstore.schemas.pets import PetQuery

bp = pages_blueprint("dashboard_pets", __name__, "/animals")


@bp.get("")
def animals() -> str:
    """List animals by ascending id, with the names of their categories."""
    project_id = g.caller.project_id
    page = read_page(PetQuery(), partial(Pet.page, project_id))
    names = Category.names(project_id, {pet.category_id for pet in page.rows})
    return render_template("pets.html", page=page, statuses=STATUSES, names=names)
