"""/dashboard/orders: the project's orders, completed or cancelled in place."""

from functools import partial

from flask import render_template, request
from flask.typing import ResponseReturnValue

from petstore.dashboard.forms import go_to
from petstore.dashboard.lists import read_list, read_query
from petstore.dashboard.pages import pages_blueprint
from petstore.dashboard.sessions import current_project
from petstore.models.grants import WRITE
from petstore.models.orders import STATUSES, Order, OrderClosed
from petstore.schemas.orders import DashboardOrderQuery

INDEX = "dashboard_orders.orders"

bp = pages_blueprint(
    "dashboard_orders", __name__, "/orders", takes=WRITE, counts_forms=True
)


@bp.get("")
def orders() -> str:
    """List orders, newest first, with the names of their animals."""
    fetch = partial(Order.listed, current_project().id)
    page = read_list(INDEX, DashboardOrderQuery(), fetch)
    return render_template("orders.html", page=page, statuses=STATUSES)


@bp.post("/<id:order_id>/complete")
def complete_order(order_id: int) -> ResponseReturnValue:
    """Sell the animal."""
    return _close(order_id, "completed", ".")


@bp.post("/<id:order_id>/cancel")
def cancel_order(order_id: int) -> ResponseReturnValue:
    """Make the animal available again."""
    return _close(order_id, "cancelled", "; its animal is available.")


def _close(order_id: int, status: str, effect: str) -> ResponseReturnValue:
    parameters, _ = read_query(DashboardOrderQuery())
    said, kind = f"is {status}{effect}", "good"
    try:
        order = Order.change(current_project().id, order_id, status=status)
    except OrderClosed:
        order = Order.find(current_project().id, order_id)
        if order.status != status:  # or the form was sent twice
            said, kind = f"had been {order.status} before.", "bad"
    said = f"The order {order_id} {said}"
    if request.form.get("on") == "animal":
        return go_to("dashboard_pets.animal", said, kind, pet_id=order.pet_id)
    return go_to(INDEX, said, kind, **parameters)
