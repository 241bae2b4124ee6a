"""/dashboard/animals: list, add, correct, order and remove animals."""

from functools import partial
from typing import Any

from flask import render_template, request, url_for

from petstore.dashboard.formats import status
from petstore.dashboard.forms import (
    EMPTY,
    Form,
    Outcome,
    filled_in,
    idempotent,
    loads_form,
    save_draft,
)
from petstore.dashboard.lists import read_list
from petstore.dashboard.pages import PageBlueprint
from petstore.dashboard.sessions import current_project
from petstore.models.categories import Category
from petstore.models.grants import WRITE
from petstore.models.keys import Key
from petstore.models.orders import Order, correct_pet, withdraw_pet
from petstore.models.pets import STATUSES, Pet
from petstore.schemas import text_of
from petstore.schemas.orders import OrderForm
from petstore.schemas.pets import AnimalChangeForm, AnimalForm, DashboardPetQuery
from petstore.storage.lists import BEFORE_ALL, Part

INDEX = "dashboard_pets.animals"
ANIMAL = "dashboard_pets.animal"
ORDER_ANIMAL = "dashboard_pets.order_animal"
SHOWN_ORDERS = 20
OFFERED_CATEGORIES = 100
CHANGE_FORM = AnimalChangeForm()

bp = PageBlueprint(
    "dashboard_pets", __name__, "/animals", required_role=WRITE, counts_forms=True
)


@bp.get("")
def animals(form: Form = EMPTY) -> str:
    project_id = current_project().id
    page = read_list(INDEX, DashboardPetQuery(), partial(Pet.listed, project_id))
    category_id = page.values["category_id"]
    shown = {pet.category_id for pet in page.rows} | {category_id}
    offered, labels = category_labels(project_id, shown - {None})
    return render_template(
        "pets.html",
        page=page,
        counts=dict.fromkeys(STATUSES)
        if page.is_search
        else Pet.counts(project_id, category_id),
        statuses=STATUSES,
        labels=labels,
        offered=offered,
        form=filled_in(form, url_for(INDEX)),
    )


@bp.post("")
@loads_form(AnimalForm(), form_page=animals)
@idempotent
def add_animal(category_id: int | str, **members: Any) -> Outcome:
    """Add an animal; the form then opens again with the same category."""
    project_id = current_project().id
    number = Category.meant(project_id, category_id)
    pet = Pet.add(project_id, category_id=number, **members)
    save_draft(url_for(INDEX), {"categoryId": request.form["categoryId"]})
    return Outcome(INDEX, f"Added {pet.name} (no. {pet.id}).")


@bp.get("/<id:pet_id>")
def animal(pet_id: int, form: Form = EMPTY) -> str:
    """Show one animal; the form corrects or orders it."""
    project_id = current_project().id
    pet = Pet.get_own(project_id, pet_id)
    orders = Order.listed(project_id, Part(SHOWN_ORDERS), name=f"#{pet_id}")
    offered, labels = category_labels(project_id, {pet.category_id})
    origin = Pet.origin(project_id, pet_id)
    now = {name: text_of(value) for name, value in CHANGE_FORM.dump(pet).items()}
    now["categoryId"] = labels[pet.category_id]
    actions = (url_for(each, pet_id=pet_id) for each in (ANIMAL, ORDER_ANIMAL))
    form = filled_in(form, *actions)
    return render_template(
        "pet.html",
        pet=pet,
        origin=origin,
        key_labels=Key.labels(project_id, [origin.added_by, origin.changed_by]),
        orders=orders,
        offered=offered,
        labels=labels,
        statuses=STATUSES,
        form=Form(Form.showing(now).values | form.values, form.errors),
    )


@bp.post("/<id:pet_id>")
@loads_form(CHANGE_FORM, form_page=animal)
@idempotent
def correct_animal(pet_id: int, **changes: Any) -> Outcome:
    project_id = current_project().id
    pet = Pet.get_own(project_id, pet_id)
    if "category_id" in changes:
        changes["category_id"] = Category.meant(project_id, changes["category_id"])
    if changes:
        pet = correct_pet(project_id, pet_id, **changes)
    said = f"Saved {pet.name}. Its status is: {status(pet.status)}."
    return Outcome(ANIMAL, said, {"pet_id": pet_id})


@bp.post("/<id:pet_id>/withdraw")
@idempotent
def withdraw_animal(pet_id: int) -> Outcome:
    pet = Pet.get_own(current_project().id, pet_id)
    withdraw_pet(current_project().id, pet_id)
    return Outcome(INDEX, f"Removed {pet.name} (no. {pet_id}).")


@bp.post("/<id:pet_id>/order")
@loads_form(OrderForm(), form_page=animal)
@idempotent
def order_animal(pet_id: int, reference: str | None) -> Outcome:
    pet = Pet.get_own(current_project().id, pet_id)
    order = Order.place(current_project().id, pet.id, reference)
    said = f"Reserved {pet.name} (order {order.id})."
    return Outcome(ANIMAL, said, {"pet_id": pet.id})


def category_labels(
    project_id: int, shown: set[int]
) -> tuple[dict[int, str], dict[int, str]]:
    """Return the labels of the categories that forms offer, and with those shown."""
    first = Category.page(project_id, after=BEFORE_ALL, limit=OFFERED_CATEGORIES)
    offered = [category.id for category in first]
    labels = Category.labels(project_id, {*offered, *shown})
    return {each: labels[each] for each in offered}, labels
