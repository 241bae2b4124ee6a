"""/dashboard/animals: the project's animals, and a form that adds one."""

from functools import partial
from typing import Any

from flask import render_template
from flask.typing import ResponseReturnValue

from petstore.dashboard.forms import EMPTY, Form, loads_form
from petstore.dashboard.lists import read_list
from petstore.dashboard.navigation import go_to
from petstore.dashboard.pages import pages_blueprint
from petstore.dashboard.sessions import current_project
from petstore.models.categories import Category
from petstore.models.pets import STATUSES, Pet
from petstore.models.roles import WRITE
from petstore.models.row_limits import ProjectFull
from petstore.schemas.pets import DashboardPetQuery, NewPetForm
from petstore.storage.lists import Part

INDEX = "dashboard_pets.animals"
OFFERED_CATEGORIES = 100

bp = pages_blueprint(
    "dashboard_pets", __name__, "/animals", takes=WRITE, counts_forms=True
)


@bp.get("")
def animals(form: Form = EMPTY) -> str:
    """List animals, newest first, with the names of their categories."""
    project_id = current_project().id
    page = read_list(INDEX, DashboardPetQuery(), partial(Pet.listed, project_id))
    offered = Category.listed(project_id, Part(OFFERED_CATEGORIES))
    ids = {pet.category_id for pet in page.rows}
    if page.values["category_id"] is not None:
        ids.add(page.values["category_id"])
    return render_template(
        "pets.html",
        page=page,
        statuses=STATUSES,
        names=Category.names(project_id, ids),
        categories=offered.rows,
        form=form,
    )


@bp.post("")
@loads_form(NewPetForm(), form_page=animals)
def add_animal(**members: Any) -> ResponseReturnValue:
    """Add an animal."""
    try:
        pet = Pet.add(current_project().id, **members)
    except ProjectFull as error:
        return go_to(INDEX, str(error), "bad")
    return go_to(INDEX, f"{pet.name} is added, with the id {pet.id}.")
