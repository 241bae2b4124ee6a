"""/dashboard/animals: the project's animals: added, corrected, ordered, withdrawn."""

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
from petstore.models.grants import WRITE
from petstore.models.orders import Order, PetUnknown
from petstore.models.pets import STATUSES, NoSuchPet, Pet, PetNotAvailable
from petstore.models.projects import ProjectFull
from petstore.schemas.orders import OrderForm
from petstore.schemas.paging import BEFORE_ALL
from petstore.schemas.pets import AnimalChangeForm, AnimalForm, DashboardPetQuery
from petstore.storage import db
from petstore.storage.lists import Listed, Part

INDEX = "dashboard_pets.animals"
ANIMAL = "dashboard_pets.animal"
SHOWN_ORDERS = 20
NOT_AVAILABLE = "It is not available any more: somebody else was faster."
OFFERED_CATEGORIES = 100

bp = pages_blueprint(
    "dashboard_pets", __name__, "/animals", takes=WRITE, counts_forms=True
)


@bp.get("")
def animals(form: Form = EMPTY) -> str:
    """List animals, newest first, with the names of their categories."""
    project_id = current_project().id
    page = read_list(INDEX, DashboardPetQuery(), partial(_listed, project_id))
    shown = {pet.category_id for pet in page.rows} | {page.values["category_id"]}
    offered, labels = category_labels(project_id, shown - {None})
    return render_template(
        "pets.html",
        page=page,
        statuses=STATUSES,
        labels=labels,
        offered=offered,
        form=filled_in(form, url_for(INDEX)),
        opened=page.values["open"],
        empty=EMPTY,
        correction_of=_correction_of,
    )


def _listed(project_id: int, part: Part, *, open: int | None, **filters: Any) -> Listed:
    """Return animals, whichever row is open."""
    return Pet.listed(project_id, part, **filters)


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


@bp.get("/<id:pet_id>")
def animal(pet_id: int, correction: Form = EMPTY, order: Form = EMPTY) -> str:
    """Show one animal, its orders, and what can be done with it."""
    project_id = current_project().id
    pet = Pet.find(project_id, pet_id)
    orders = Order.listed(project_id, Part(SHOWN_ORDERS), name=f"#{pet_id}")
    offered, labels = category_labels(project_id, {pet.category_id})
    return render_template(
        "pet.html",
        pet=pet,
        orders=orders,
        offered=offered,
        labels=labels,
        correction=filled_in(correction, url_for(ANIMAL, pet_id=pet_id))
        or _correction_of(pet, labels),
        order=filled_in(order, url_for("dashboard_pets.order_animal", pet_id=pet_id)),
    )


def _correction_of(pet: Pet, labels: dict[int, str]) -> Form:
    """Return the form that corrects an animal, filled in with what it is now."""
    return Form({"name": pet.name, "categoryId": labels[pet.category_id]})


def _correction_page(pet_id: int, form: Form) -> str:
    return animal(pet_id, correction=form)


@bp.post("/<id:pet_id>")
@loads_form(AnimalChangeForm(), form_page=_correction_page)
def correct_animal(
    pet_id: int, name: str, category_id: int | str
) -> ResponseReturnValue:
    """Correct the name and the category of an animal."""
    project_id = current_project().id
    try:
        with db.atomic():
            number = category_number(project_id, category_id)
            pet = Pet.correct(project_id, pet_id, name=name, category_id=number)
    except CategoryUnclear as error:
        form = Form.of_request().with_errors({"categoryId": str(error)})
        return animal(pet_id, correction=form), 400
    except ProjectFull as error:
        return _back_to(pet_id, str(error), "bad")
    return _back_to(pet_id, f"{pet.name} is corrected.")


@bp.post("/<id:pet_id>/withdraw")
def withdraw_animal(pet_id: int) -> ResponseReturnValue:
    """Take an animal out of the project."""
    project_id = current_project().id

    def withdraw() -> Outcome:
        pet = Pet.find(project_id, pet_id)
        Pet.withdraw(project_id, pet_id)
        return Outcome(INDEX, f"{pet.name} (#{pet_id}) is withdrawn.")

    try:
        return do_once(withdraw)
    except PetNotAvailable:
        return _back_to(pet_id, NOT_AVAILABLE, "bad")


def _order_page(pet_id: int, form: Form) -> str:
    return animal(pet_id, order=form)


@bp.post("/<id:pet_id>/order")
@loads_form(OrderForm(), form_page=_order_page)
def order_animal(pet_id: int, reference: str | None) -> ResponseReturnValue:
    """Order an animal for somebody."""
    project_id = current_project().id

    def place() -> Outcome:
        order = Order.place(project_id, pet_id, reference)
        said = f"The order {order.id} is placed; its animal is pending."
        return Outcome(ANIMAL, said, {"pet_id": pet_id})

    try:
        return do_once(place)
    except PetUnknown:
        raise NoSuchPet(pet_id) from None
    except PetNotAvailable:
        return _back_to(pet_id, NOT_AVAILABLE, "bad")
    except ProjectFull as error:
        return _back_to(pet_id, str(error), "bad")


def _back_to(pet_id: int, message: str, kind: str = "good") -> ResponseReturnValue:
    return go_to(ANIMAL, message, kind, pet_id=pet_id)


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
