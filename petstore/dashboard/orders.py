"""/dashboard/orders: the project's orders, read-only."""

from functools import partial

from flask import g, render_template

from petstore.dashboard.lists import read_page
from petstore.dashboard.pages import pages_blueprint
from petstore.models.orders import STATUSES, Order
from petstore.models.pets import Pet
from petstore.schemas.orders import OrderQuery

bp = pages_blueprint("dashboard_orders", __name__, "/orders")


@bp.get("")
def orders() -> str:
    """List orders by ascending id, with the names of their animals."""
    project_id = g.caller.project_id
    page = read_page(OrderQuery(), partial(Order.page, project_id))
    names = Pet.names(project_id, {order.pet_id for order in page.rows})
    return render_template("orders.html", page=page, statuses=STATUSES, names=names)
