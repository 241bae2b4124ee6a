"""/dashboard/animals: list, add, correct, order and remove animals."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from flask import render_template, request, url_for

from petstore.extensions.dashboard import forms, listing, schemas, typed_names
from petstore.extensions.dashboard.formats import status
from petstore.extensions.dashboard.histories import key_labels
from petstore.extensions.dashboard.lists import read_list
from petstore.extensions.dashboard.orders import deeds_to, get_whole, list_orders
from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.extensions.dashboard.sessions import current_project
from petstore.models import BEFORE_ALL, RuleError
from petstore.models.categories import Category
from petstore.models.grants import WRITE
from petstore.models.orders import Order, correct_pet, require_no_order, withdraw_pet
from petstore.models.pets import STATUSES, Pet
from petstore.models.projects import take_rows
from petstore.schemas.fields import INT64_MAX, INTEGER_PATTERN

ANIMALS = "dashboard_pets.animals"
ANIMAL = "dashboard_pets.animal"
WITHDRAW = "dashboard_pets.withdraw_animal"
ADD_AGAIN = "dashboard_pets.add_again"
ORDER_ANIMAL = "dashboard_pets.order_animal"
MANY = "dashboard_many.ask", "dashboard_many.change"
SHOWN_ORDERS = 20
OFFERED_CATEGORIES = 100
CHANGE_FORM = schemas.AnimalChangeForm()

bp = PageBlueprint(
    "dashboard_pets", __name__, "/animals", required_role=WRITE, counts_forms=True
)


@bp.get("")
def animals(form: forms.Form = forms.EMPTY) -> str:
    project_id = current_project().id
    page = read_list(ANIMALS, schemas.PetListQuery(), list_animals)
    category_id = page.values["category_id"]
    form = forms.filled_in(form, url_for(ANIMALS))
    shown = {pet.category_id for pet in page.rows} | {category_id}
    labels = category_labels(project_id, shown - {None}, form)
    many = forms.filled_in(forms.EMPTY, *map(url_for, MANY))
    return render_template(
        "pets.html",
        ticked=ticked_ids(many.values),
        page=page,
        counts=dict.fromkeys(STATUSES)
        if page.is_search
        else count_animals(project_id, category_id),
        statuses=STATUSES,
        labels=labels,
        form=form,
    )


@bp.post("")
@forms.loads_form(schemas.AnimalForm(), form_page=animals)
@forms.idempotent
def add_animal(
    category_id: int | str, is_new: bool = False, **members: Any
) -> forms.Outcome:
    """Add an animal; the form stays open for another one of the same category."""
    project_id = current_project().id
    number, is_added = typed_names.typed_category(
        project_id, category_id, is_new=is_new
    )
    pet = Pet.add(project_id, category_id=number, **members)
    said = f"Added {pet.name} (no. {pet.id})."
    links = [("Open the animal", url_for(ANIMAL, pet_id=pet.id))]
    if is_added:
        said += f" The category {category_id} is new."
        links.append(("Open the category", url_for(ANIMALS, category=number)))
    url = url_for(WITHDRAW, pet_id=pet.id, added=1)
    undo = ("Undo: remove the animal", url)
    facts, draft = {"animal": pet.id}, (url_for(ANIMALS), {"categoryId": str(number)})
    return forms.Outcome(ANIMALS, said, {}, facts, links, undo, draft)


@bp.get("/again")
def add_again() -> str:
    """Show the form that adds an animal, filled in with the one that was removed."""
    return animals(forms.filled_in(forms.EMPTY, url_for(ADD_AGAIN)))


@bp.get("/<id:pet_id>")
def animal(pet_id: int, form: forms.Form = forms.EMPTY) -> str:
    """Show one animal; the form corrects or orders it."""
    project_id = current_project().id
    pet = get_whole(Pet, project_id, pet_id)
    orders = list_orders(project_id, listing.Cursor(SHOWN_ORDERS), name=f"#{pet_id}")
    actions = (url_for(each, pet_id=pet_id) for each in (ANIMAL, ORDER_ANIMAL))
    form = forms.filled_in(form, *actions)
    labels = category_labels(project_id, {pet.category_id}, form)
    return render_template(
        "pet.html",
        pet=pet,
        key_labels=key_labels(project_id, [pet.added_by, pet.changed_by]),
        orders=orders,
        labels=labels,
        statuses=STATUSES,
        form=replace(form, values=forms.Form.showing(_texts(pet)).values | form.values),
    )


@bp.post("/<id:pet_id>")
@forms.loads_form(CHANGE_FORM, form_page=animal)
@forms.idempotent
def correct_animal(pet_id: int, is_new: bool = False, **changes: Any) -> forms.Outcome:
    project_id = current_project().id
    before = Pet.get_own(project_id, pet_id)
    links = []
    if "category_id" in changes:
        name = changes["category_id"]
        number, is_added = typed_names.typed_category(project_id, name, is_new=is_new)
        changes["category_id"] = number
        if is_added:
            links = [("Open the new category", url_for(ANIMALS, category=number))]
    changes = {x: new for x, new in changes.items() if new != getattr(before, x)}
    if not changes:
        return forms.Outcome(ANIMAL, forms.UNCHANGED, {"pet_id": pet_id})
    pet = correct_pet(project_id, pet_id, **changes)
    said = " ".join(_differences(before, pet))
    facts = {"animal": pet_id}
    return forms.Outcome(ANIMAL, said, {"pet_id": pet_id}, facts, links)


def _differences(before: Pet, now: Pet) -> Iterator[str]:
    """Yield what was corrected, with the old value and the new one."""
    if before.name != now.name:
        yield f"Changed the name: {before.name} → {now.name}."
    if (old := before.category_id) != (new := now.category_id):
        labels = typed_names.labels_of(current_project().id, [old, new])
        yield f"Changed the category of {now.name}: {labels[old]} → {labels[new]}."
    if before.status != now.status:
        changed = f"{status(before.status)} → {status(now.status)}"
        yield f"Changed the status of {now.name}: {changed}."


@bp.post("/<id:pet_id>/withdraw")
@forms.idempotent
def withdraw_animal(pet_id: int) -> forms.Outcome:
    """Remove an animal; with `added`, only if it is as it was added."""
    project_id = current_project().id
    pet = Pet.get_own(project_id, pet_id)
    if "added" in request.args:
        _require_as_added(project_id, pet_id)
    withdraw_pet(project_id, pet_id)
    again, facts = url_for(ADD_AGAIN), {"animal": pet_id, "removed": True}
    said = f"Removed {pet.name} (no. {pet_id})."
    links, draft = [("Add it again…", again)], (again, _texts(pet))
    return forms.Outcome(ANIMALS, said, facts=facts, links=links, draft=draft)


@bp.post("/<id:pet_id>/order")
@forms.loads_form(schemas.OrderForm(), form_page=animal)
@forms.idempotent
def order_animal(pet_id: int, reference: str | None, of: str) -> forms.Outcome:
    project_id = current_project().id
    pet = Pet.get_own(project_id, pet_id)
    if of == "pending":
        _make_available(project_id, pet_id)
    order = Order.place(project_id, pet_id, reference)
    said = f"Reserved {pet.name} (reservation {order.id})."
    return forms.Outcome(ANIMAL, said, {"pet_id": pet.id}, {"order": order.id})


def list_animals(
    project_id: int,
    cursor: listing.Cursor,
    *,
    status: str | None = None,
    category_id: int | None = None,
    name: str = "",
    sort: str | None = None,
) -> listing.ListPage:
    """Return a page of the project's animals, newest first, or the newest by name.

    `name` is searched in their names, or it is the number of an animal.
    """
    number, search = listing.read_search(name, Pet.folded, needs_sign=False)
    filters = (
        (Pet.project, project_id),
        (Pet.category_id, category_id),
        (Pet.status, status),
        (Pet.id, number),
    )
    by = Pet.folded if sort else None
    return listing.Listing(Pet, filters, search=search, sort=by).show(cursor)


def count_animals(project_id: int, category_id: int | None = None) -> dict[str, int]:
    filters = ((Pet.project, project_id), (Pet.category_id, category_id))
    return listing.count_each(filters, Pet.status, STATUSES)


def _require_as_added(project_id: int, pet_id: int) -> None:
    """Raise `RuleError` for an animal that somebody has written since it was added.

    Until the transaction ends, nobody else writes it.
    """
    is_pet = (Pet.project == project_id) & (Pet.id == pet_id)
    take_rows(project_id, 0)  # no order is placed meanwhile
    locked = Pet.update(added_ms=Pet.added_ms).where(is_pet, Pet.writes == 0)
    if not locked.execute():
        pet = get_whole(Pet, project_id, pet_id)
        text = "{} stays: since then {}."
        raise RuleError(pet.name, deeds_to(project_id, pet), text=text)


def _make_available(project_id: int, pet_id: int) -> None:
    """Let a pending animal be ordered; raises `PetOrdered` if it is already."""
    take_rows(project_id, 0)  # no order is placed meanwhile
    require_no_order(project_id, pet_id)
    is_pet = (Pet.project == project_id) & (Pet.id == pet_id)
    pending = Pet.update(status="available").where(is_pet, Pet.status == "pending")
    pending.execute()


def ticked_ids(values: dict[str, str]) -> list[int]:
    """Return the numbers of the animals that are ticked in a form."""
    boxes = re.findall(rf"{forms.TICK}([0-9]{{1,18}})\b", " ".join(values))
    of_all = re.findall("[0-9]{1,18}", values.get(f"{forms.TICK}all", ""))
    return sorted(map(int, {*boxes, *of_all}))


def category_labels(
    project_id: int, shown: set[int], form: forms.Form = forms.EMPTY
) -> dict[int, str]:
    """Return the labels of the categories that a page offers: the first, and its own.

    Its own are those that it shows, and the one that is chosen in the form.
    """
    first = Category.page(project_id, after=BEFORE_ALL, limit=OFFERED_CATEGORIES)
    ids = shown | {category.id for category in first}
    chosen = form.values.get("categoryId", "")
    if re.fullmatch(INTEGER_PATTERN, chosen):
        number = min(int(chosen), INT64_MAX)
        if Category.find_own(project_id, number):
            ids.add(number)
    return typed_names.labels_of(project_id, sorted(ids))


def _texts(pet: Pet) -> dict[str, str]:
    """Return the fields of a form that is filled in with an animal."""
    return {
        name: schemas.text_of(value) for name, value in CHANGE_FORM.dump(pet).items()
    }
