"""/dashboard/orders: list, complete, cancel, reopen, correct and delete orders."""

from collections.abc import Iterable
from typing import Any, NoReturn

from flask import render_template, request, url_for
from peewee import fn

from petstore import clock
from petstore.extensions.dashboard import forms, listing, schemas
from petstore.extensions.dashboard.histories import (
    actor_text,
    find_removal,
    removal_text,
)
from petstore.extensions.dashboard.lists import read_list, read_query
from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.extensions.dashboard.sessions import current_project
from petstore.models import NotFound
from petstore.models.grants import WRITE
from petstore.models.orders import STATUSES, Order, OrderClosed, OrderOpen
from petstore.models.pets import Pet
from petstore.models.projects import take_rows

INDEX = "dashboard_orders.orders"
ORDER = "dashboard_orders.order"
REOPEN = "dashboard_orders.reopen_order"
EFFECTS = {"completed": "adopted", "cancelled": "available again"}

bp = PageBlueprint(
    "dashboard_orders", __name__, "/orders", required_role=WRITE, counts_forms=True
)


@bp.get("")
def orders() -> str:
    project_id = current_project().id
    page = read_list(INDEX, schemas.OrderListQuery(), list_orders)
    counts: dict[str, Any] = dict.fromkeys(STATUSES)
    if not page.is_search:
        of_project = ((Order.project, project_id),)
        counts = listing.count_each(of_project, Order.status, STATUSES)
    names = animal_names(project_id, page.rows)
    return render_template("orders.html", page=page, counts=counts, names=names)


@bp.get("/<id:order_id>")
def order(order_id: int, form: forms.Form = forms.EMPTY) -> str:
    project_id = current_project().id
    order = get_whole(Order, project_id, order_id)
    form = forms.filled_in(form, url_for(ORDER, order_id=order_id))
    return render_template(
        "order.html",
        order=order,
        pet_name=animal_names(project_id, [order]).get(order.pet_id),
        form=form or forms.Form.showing({"reference": order.reference or ""}),
    )


@bp.post("/<id:order_id>")
@forms.loads_form(schemas.OrderChangeForm(), form_page=order)
@forms.idempotent
def change_order(order_id: int, **changes: Any) -> forms.Outcome:
    project_id = current_project().id
    before = Order.get_own(project_id, order_id)
    if changes.get("reference", before.reference) == before.reference:
        return forms.Outcome(ORDER, forms.UNCHANGED, {"order_id": order_id})
    Order.change(project_id, order_id, **changes)
    said = f"Saved reservation {order_id}."
    return forms.Outcome(ORDER, said, {"order_id": order_id}, {"order": order_id})


@bp.post("/<id:order_id>/delete")
@forms.idempotent
def delete_order(order_id: int) -> forms.Outcome:
    Order.remove(current_project().id, order_id)
    said = f"Deleted reservation {order_id}."
    return forms.Outcome(INDEX, said, facts={"order": order_id, "removed": True})


@bp.post("/<id:order_id>/complete", defaults={"closed_as": "completed"})
@bp.post("/<id:order_id>/cancel", defaults={"closed_as": "cancelled"})
@forms.idempotent
def close_order(order_id: int, closed_as: str) -> forms.Outcome:
    parameters, _ = read_query(schemas.OrderListQuery())
    project_id = current_project().id
    order = Order.change(project_id, order_id, status=closed_as)
    pet = get_whole(Pet, project_id, order.pet_id)
    said = f"{pet.name} is {EFFECTS[closed_as]} (reservation {order_id})."
    places: dict[str, tuple[str, dict[str, Any]]] = {
        "animal": ("dashboard_pets.animal", {"pet_id": pet.id}),
        "home": ("home.home", {}),
        "order": (ORDER, {"order_id": order_id}),
    }
    place, arguments = places.get(request.form.get("on", ""), (INDEX, parameters))
    reopening = url_for(REOPEN, order_id=order_id, closing=pet.closed_write)
    undo = ("Undo: open the reservation again", reopening)
    links = [("Open the animal", url_for("dashboard_pets.animal", pet_id=pet.id))]
    return forms.Outcome(place, said, arguments, {"order": order_id}, links, undo)


@bp.post("/<id:order_id>/reopen")
@forms.idempotent
def reopen_order(order_id: int) -> forms.Outcome:
    """Open an order again; with `closing`, only after that write of its animal."""
    project_id = current_project().id
    pet_name = reopen(project_id, order_id, request.args.get("closing", type=int))
    said = f"Reservation {order_id} is open again, and {pet_name} is reserved."
    return forms.Outcome(ORDER, said, {"order_id": order_id}, {"order": order_id})


def get_whole(model: Any, project_id: int, id: int) -> Any:
    """Return a row of the project with all of its columns; raises `NotFound`."""
    if row := model.get_or_none(model.project == project_id, model.id == id):
        return row
    raise NotFound(model.noun, id)


def list_orders(
    project_id: int,
    cursor: listing.Cursor,
    *,
    status: str | None = None,
    name: str = "",
) -> listing.ListPage:
    """Return a page of the project's orders, newest first.

    `name` is searched in references and names of animals, or it is the number of an
    animal after a `#`.
    """
    pet = Pet.select(Pet.folded)
    pet_name = pet.where(Pet.project == Order.project, Pet.id == Order.pet_id)
    either = fn.COALESCE(pet_name, Order.pet_folded, "")
    number, search = listing.read_search(name, Order.folded.concat(" ").concat(either))
    filters = (
        (Order.project, project_id),
        (Order.pet_id, number),
        (Order.status, status),
    )
    return listing.Listing(Order, filters, search=search).show(cursor)


def animal_names(project_id: int, orders: Iterable[Order]) -> dict[int, str]:
    """Return the names of the animals of these orders that are still there, by id."""
    ids = [order.pet_id for order in orders]
    pets = Pet.select(Pet.id, Pet.name).where(
        Pet.project == project_id, Pet.id.in_(ids)
    )
    return dict(pets.tuples().iterator())


def reopen(project_id: int, order_id: int, closed_write: int | None) -> str:
    """Open a closed order again, and return the name of its animal.

    That is done if nobody has written the animal since, and with `closed_write`, only
    if that write of it has closed the order. Call it in a transaction. Raises
    `NotFound`, `OrderOpen`, and `OrderClosed` if it stays closed.
    """
    take_rows(project_id, 0)  # no order is deleted and no animal withdrawn
    order = get_whole(Order, project_id, order_id)
    if order.status == "placed":
        raise OrderOpen(order_id, text="The reservation {} is open already.")
    is_last = (Pet.closed_order == order_id) & (Pet.closed_write == Pet.writes)
    if closed_write is not None:
        is_last &= Pet.closed_write == closed_write
    is_pet = (Pet.project == project_id) & (Pet.id == order.pet_id)
    if not Pet.update(status="pending").where(is_pet, is_last).execute():
        _refuse_reopening(project_id, order, Pet.get_or_none(is_pet))
    opened = Order.update(status="placed", updated_ms=clock.now_ms(), closed_by=None)
    opened.where(Order.id == order_id).execute()
    return str(Pet.get(is_pet).name)


def _refuse_reopening(project_id: int, order: Order, pet: Pet | None) -> NoReturn:
    if pet is None:
        removal = find_removal(project_id, "animal", order.pet_id)
        reason = f". {removal_text(project_id, removal)}" if removal else "."
        reason = f"somebody has removed the animal{reason}"
    elif pet.closed_order == order.id and pet.closed_write == pet.writes:
        reason = f"{actor_text(project_id, order.closed_by)} has closed it again."
    elif pet.closed_write is None:
        reason = "it was closed by a release that did not keep what happened since."
    else:
        reason = f"since then {deeds_to(project_id, pet, order)}."
    text = "The reservation {} stays closed: {}"
    raise OrderClosed(order.id, reason, text=text)


def deeds_to(project_id: int, pet: Pet, order: Order | None = None) -> str:
    """Say what was done to an animal since it was added, or since an order was closed.

    It is what is kept of that: an order that was placed may be deleted.
    """
    deeds = []
    for newest in list_orders(project_id, listing.Cursor(1), name=f"#{pet.id}").rows:
        if order is None or newest.id > order.id:
            who = actor_text(project_id, newest.placed_by)
            deeds.append(f"{who} reserved {pet.name} (reservation {newest.id})")
    if pet.changed_ms and (order is None or pet.changed_ms >= order.updated_ms):
        deeds.append(f"{actor_text(project_id, pet.changed_by)} corrected {pet.name}")
    return " and ".join(deeds) or f"somebody has changed {pet.name}"
