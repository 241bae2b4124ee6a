"""/dashboard/animals: the project's animals, and a form that adds one."""

from functools import partial
from typing import Any

from flask import render_template, url_for
from flask.typing import ResponseReturnValue

from petstore.dashboard.forms import EMPTY, Form, filled_in, loads_form
from petstore.dashboard.lists import read_list
from petstore.dashboard.navigation import go_to
from petstore.dashboard.once import Outcome, do_once
from petstore.dashboard.pages import pages_blueprint
from petstore.dashboard.sessions import current_project
from petstore.models.categories import Category, CategoryUnclear
from petstore.models.pets import STATUSES, Pet
from petstore.models.roles import WRITE
from petstore.models.row_limits import ProjectFull
from petstore.schemas.paging import BEFORE_ALL
from petstore.schemas.pets import AnimalForm, DashboardPetQuery

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
    shown = {pet.category_id for pet in page.rows} | {page.values["category_id"]}
    offered, labels = category_labels(project_id, shown - {None})
    return render_template(
        "pets.html",
        page=page,
        statuses=STATUSES,
        labels=labels,
        offered=offered,
        form=filled_in(form, url_for(INDEX)),
    )


@bp.post("")
@loads_form(AnimalForm(), form_page=animals)
def add_animal(category_id: int | str, **members: Any) -> ResponseReturnValue:
    """Add an animal; the form stays open for another one of the same category."""
    form, project_id = Form.of_request(), current_project().id

    def add() -> Outcome:
        number = category_number(project_id, category_id)
        pet = Pet.add(project_id, category_id=number, **members)
        same = {"categoryId": form.values["categoryId"]}
        return Outcome(INDEX, f"{pet.name} is added, with the id {pet.id}.", {}, same)

    try:
        return do_once(add)
    except CategoryUnclear as error:
        return animals(form.with_errors({"categoryId": str(error)})), 400
    except ProjectFull as error:
        return go_to(INDEX, str(error), "bad")


def category_labels(
    project_id: int, shown: set[int]
) -> tuple[dict[int, str], dict[int, str]]:
    """Return the labels of the categories that forms offer, and of those and others."""
    first = Category.page(project_id, after=BEFORE_ALL, limit=OFFERED_CATEGORIES)
    offered = [category.id for category in first]
    labels = Category.labels(project_id, {*offered, *shown})
    return {each: labels[each] for each in offered}, labels


def category_number(project_id: int, category: int | str) -> int:
    """Return the number of a category that a form names; raises `CategoryUnclear`."""
    if isinstance(category, int):
        return category
    return Category.meant(project_id, category)
