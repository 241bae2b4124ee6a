"""/dashboard/orders: list, complete, cancel, correct and delete orders."""

from typing import Any

from flask import render_template, request, url_for

from petstore.extensions.dashboard.forms import (
    EMPTY,
    UNCHANGED,
    Form,
    Outcome,
    filled_in,
    idempotent,
    loads_form,
)
from petstore.extensions.dashboard.lists import read_list, read_query
from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.extensions.dashboard.sessions import current_project
from petstore.models.activity import Event
from petstore.models.grants import WRITE
from petstore.models.histories import removal_text
from petstore.models.orders import STATUSES, Order, OrderClosed
from petstore.models.pets import Pet
from petstore.schemas.orders import DashboardOrderQuery, OrderChangeForm

INDEX = "dashboard_orders.orders"
ORDER = "dashboard_orders.order"
REOPEN = "dashboard_orders.reopen_order"
EFFECTS = {"completed": "adopted (sold)", "cancelled": "available again"}

bp = PageBlueprint(
    "dashboard_orders", __name__, "/orders", required_role=WRITE, counts_forms=True
)


@bp.get("")
def orders() -> str:
    project_id = current_project().id
    page = read_list(INDEX, DashboardOrderQuery(), Order.listed)
    counts = dict.fromkeys(STATUSES) if page.is_search else Order.counts(project_id)
    names = Pet.names(project_id, {order.pet_id for order in page.rows})
    return render_template("orders.html", page=page, counts=counts, names=names)


@bp.get("/<id:order_id>")
def order(order_id: int, form: Form = EMPTY) -> str:
    project_id = current_project().id
    order = Order.get_whole(project_id, order_id)
    form = filled_in(form, url_for(ORDER, order_id=order_id))
    return render_template(
        "order.html",
        order=order,
        pet_name=Pet.names(project_id, {order.pet_id}).get(order.pet_id),
        form=form or Form.showing({"reference": order.reference or ""}),
    )


@bp.post("/<id:order_id>")
@loads_form(OrderChangeForm(), form_page=order)
@idempotent
def change_order(order_id: int, **changes: Any) -> Outcome:
    project_id = current_project().id
    before = Order.get_own(project_id, order_id)
    if changes.get("reference", before.reference) == before.reference:
        return Outcome(ORDER, UNCHANGED, {"order_id": order_id})
    Order.change(project_id, order_id, **changes)
    said = f"Saved order {order_id}."
    return Outcome(ORDER, said, {"order_id": order_id}, {"order": order_id})


@bp.post("/<id:order_id>/delete")
@idempotent
def delete_order(order_id: int) -> Outcome:
    Order.remove(current_project().id, order_id)
    return Outcome(
        INDEX, f"Deleted order {order_id}.", facts={"order": order_id, "removed": True}
    )


@bp.post("/<id:order_id>/complete", defaults={"closed_as": "completed"})
@bp.post("/<id:order_id>/cancel", defaults={"closed_as": "cancelled"})
@idempotent
def close_order(order_id: int, closed_as: str) -> Outcome:
    parameters, _ = read_query(DashboardOrderQuery())
    project_id = current_project().id
    order = Order.change(project_id, order_id, status=closed_as)
    pet = Pet.get_whole(project_id, order.pet_id)
    said = f"{pet.name} is {EFFECTS[closed_as]}. Order {order_id} is {closed_as}."
    places: dict[str, tuple[str, dict[str, Any]]] = {
        "animal": ("dashboard_pets.animal", {"pet_id": pet.id}),
        "home": ("home.home", {}),
        "order": (ORDER, {"order_id": order_id}),
    }
    place, arguments = places.get(request.form.get("on", ""), (INDEX, parameters))
    reopening = url_for(REOPEN, order_id=order_id, closing=pet.closed_write)
    undo = ("Undo: open the order again", reopening)
    links = [("Open the animal", url_for("dashboard_pets.animal", pet_id=pet.id))]
    return Outcome(place, said, arguments, {"order": order_id}, links, undo)


@bp.post("/<id:order_id>/reopen")
@idempotent
def reopen_order(order_id: int) -> Outcome:
    """Open an order again; with `closing`, only after that write of its animal."""
    project_id = current_project().id
    closing = request.args.get("closing", type=int)
    try:
        order = Order.reopen(project_id, order_id, closing)
    except OrderClosed as error:
        pet_id = Order.get_own(project_id, order_id).pet_id
        if removal := Event.find_removal(project_id, "animal", pet_id):
            reason = removal_text(project_id, removal)
            raise OrderClosed(error, reason, text="{} {}") from None
        raise
    pet = Pet.get_own(project_id, order.pet_id)
    said = f"Order {order_id} is open again, and {pet.name} is reserved."
    return Outcome(ORDER, said, {"order_id": order_id}, {"order": order_id})
