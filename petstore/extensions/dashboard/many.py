"""/dashboard/animals/many: change or remove the animals that are ticked in the list.

The list says what is to be done, a page asks, and its answer does it to all of them.
"""

import re
from collections.abc import Iterable, Sized
from functools import partial
from typing import Any

from flask import render_template, request, url_for
from flask.typing import ResponseReturnValue

from petstore import clock
from petstore.concurrency import give_way
from petstore.events import actor
from petstore.extensions.dashboard import forms, schemas
from petstore.extensions.dashboard.formats import status
from petstore.extensions.dashboard.histories import note
from petstore.extensions.dashboard.limits import count_form
from petstore.extensions.dashboard.lists import read_query
from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.extensions.dashboard.pets import ANIMALS, ticked_ids
from petstore.extensions.dashboard.sessions import current_project, takes_long
from petstore.extensions.dashboard.typed_names import labels_of, require_category
from petstore.models import RuleError
from petstore.models.grants import WRITE
from petstore.models.orders import Order, withdraw_pet
from petstore.models.pets import STATUSES, Pet
from petstore.models.projects import take_rows
from petstore.schemas import MAX_LIMIT

WHAT, WAS = f"{forms.TICK}what", f"{forms.TICK}was"
TAKE_BACK = "dashboard_many.take_back"
PART = 20  # animals, which count as one form
COLUMNS = {"category": "category_id", "status": "status"}
NUMBER = "[0-9]{1,18}"
# What may be done, and the texts of the new values.
VALUES = {"category": NUMBER, "status": "|".join(STATUSES), "remove": ""}

bp = PageBlueprint(
    "dashboard_many", __name__, "/animals/many", required_role=WRITE, counts_forms=True
)


@bp.url_value_preprocessor
def allow_a_field_for_each_row(*_: Any) -> None:
    request.max_form_parts = MAX_LIMIT + PART


@bp.post("")
@takes_long
def ask() -> ResponseReturnValue:
    """Show which animals would change, and which would stay as they are."""
    what, value, ids = _read_form()
    pets, left_out = _look_at(ids, what, value)
    page = render_template(
        "many.html",
        what=what,
        value=value,
        label=_labels(what, [value])[value],
        pets=pets,
        left_out=left_out,
        gone=len(ids) - len(pets) - len(left_out),
        parameters=read_query(schemas.PetListQuery())[0],
    )
    return page, 200, forms.MAY_BE_SHOWN_AGAIN


def count_parts() -> None:
    """Count what a form does beyond its first part, which is counted already."""
    animals = request.form.get(WAS, "").count(".") // 2 or len(_read_form()[2])
    if parts := (animals - 1) // PART:
        count_form(parts)


@bp.post("/change")
@takes_long
@partial(forms.idempotent, count=count_parts)
def change() -> forms.Outcome:
    project, undo = current_project(), None
    parameters, _ = read_query(schemas.PetListQuery())
    what, value, ids = _read_form()
    take_rows(project.id, 0)  # no order is placed meanwhile
    pets, _ = _look_at(ids, what, value)
    if what == "remove":
        for pet in pets:
            withdraw_pet(project.id, pet.id)
            said = f"Removed {pet.name} (no. {pet.id})."
            note(project.slug, said, {"animal": pet.id, "removed": True})
            give_way()
        notice = _notice("Removed", pets, ids)
    else:
        done = _write(what, pets, dict.fromkeys(ids, value))
        notice = _notice("Changed", done, ids, f" to {_labels(what, [value])[value]}")
        was = [f"{x.id}.{x.writes + 1}.{getattr(x, COLUMNS[what])}" for x in done]
        fields = {WHAT: what, WAS: " ".join(was)}
        undo = ("Undo: change them back", url_for(TAKE_BACK), fields) if done else None
    return forms.Outcome(ANIMALS, notice, parameters, undo=undo)


@bp.post("/back")
@takes_long
@partial(forms.idempotent, count=count_parts)
def take_back() -> forms.Outcome:
    """Give animals the values that they had, unless somebody has written them since."""
    what = "category" if request.form.get(WHAT) == "category" else "status"
    pattern = rf"({NUMBER})\.({NUMBER})\.({VALUES[what]})"
    found = re.findall(pattern, request.form.get(WAS, ""))[:MAX_LIMIT]
    old = {int(pet_id): value for pet_id, _, value in found}
    writes = {int(pet_id): int(number) for pet_id, number, _ in found}
    take_rows(current_project().id, 0)  # no order is placed meanwhile
    pets = [x for x in _look_at([*old], what)[0] if x.writes == writes[x.id]]
    done = _write(what, pets, old)
    return forms.Outcome(ANIMALS, _notice("Changed", done, old, " back"))


def _read_form() -> tuple[str, str, list[int]]:
    """Return what is to be done, the new value, and the ids of the animals."""
    values = forms.Form.of_request().values
    what, _, value = values.get(WHAT, "").partition(".")
    ids = ticked_ids(values)
    is_known = what in VALUES and re.fullmatch(VALUES[what], value)
    if not is_known or not 0 < len(ids) <= MAX_LIMIT:
        raise RuleError(text="Tick animals first, and choose what happens to them.")
    return what, value, ids


def _look_at(
    ids: list[int], what: str, value: str = ""
) -> tuple[list[Pet], list[tuple[Pet, int | None]]]:
    """Return the animals that would change, and the others, with their open orders."""
    project_id = current_project().id
    found = Pet.select().where(Pet.project == project_id, Pet.id.in_(ids))
    orders = Order.select(Order.pet_id, Order.id).where(
        Order.project == project_id, Order.status == "placed", Order.pet_id.in_(ids)
    )
    ordered = {} if what == "category" else dict(orders.tuples().iterator())
    pets, left_out = [], []
    for pet in found.order_by(Pet.id):
        is_so = what in COLUMNS and str(getattr(pet, COLUMNS[what])) == value
        if is_so or pet.id in ordered:
            left_out.append((pet, None if is_so else ordered[pet.id]))
        else:
            pets.append(pet)
    return pets, left_out


def _write(what: str, pets: list[Pet], values: dict[int, str]) -> list[Pet]:
    """Give animals new values, and return those that nobody else writes meanwhile."""
    by = {"changed_ms": clock.now_ms(), "changed_by": actor.get()}
    project, done = current_project(), []
    old = {pet.id: str(getattr(pet, COLUMNS[what])) for pet in pets}
    labels = _labels(what, {*old.values(), *values.values()})
    for category_id in {*values.values()} if what == "category" else ():
        require_category(project.id, int(category_id))
    for pet in pets:
        is_same = (Pet.project == project.id) & (Pet.id == pet.id)
        changes = {COLUMNS[what]: values[pet.id], **by}
        if Pet.update(changes).where(is_same, Pet.writes == pet.writes).execute():
            change = f"{labels[old[pet.id]]} → {labels[values[pet.id]]}"
            said = f"Changed the {what} of {pet.name}: {change}."
            note(project.slug, said, {"animal": pet.id})
            done.append(pet)
        give_way()
    return done


def _labels(what: str, values: Iterable[str]) -> dict[str, str]:
    """Return what people call these values."""
    if what != "category":
        return {value: status(value) for value in values}
    labels = labels_of(current_project().id, map(int, values))
    return {str(category_id): label for category_id, label in labels.items()}


def _notice(verb: str, done: Sized, asked: Sized, end: str = "") -> str:
    """Return what was done to how many animals, and how many stay as they were."""
    animals = "1 animal" if len(done) == 1 else f"{len(done)} animals"
    left = len(asked) - len(done)
    others = f" Reserved, changed or removed meanwhile, and therefore left: {left}."
    return f"{verb} {animals}{end}.{others if left else ''}"
