"""/v1/store/orders: place, list, get and close orders."""

from typing import Any

from flask import Blueprint

from petstore.api.contract import Contract, Result
from petstore.models.grants import READ, WRITE
from petstore.models.orders import Order, OrderClosed, OrderOpen
from petstore.models.pets import PetNotAvailable
from petstore.models.projects import ProjectFull
from petstore.schemas.orders import (
    NewOrderSchema,
    OrderChangeSchema,
    OrderQuery,
    OrderSchema,
)
from petstore.web.application import API_PREFIX

ORDERS = f"{API_PREFIX}/store/orders"

bp = Blueprint("orders", __name__, url_prefix=ORDERS)


@bp.get("")
@Contract(required_role=READ, query=OrderQuery(), returns=OrderSchema(), paged=True)
def list_orders(project_id: int, **part: Any) -> Result:
    """List orders.

    They are in ascending order of `id`; with `status` or `petId`, only those with that
    status, of that animal, or both.
    """
    return Result(Order.page(project_id, **part))


@bp.post("")
@Contract(
    required_role=WRITE,
    body=NewOrderSchema(),
    returns=OrderSchema(),
    statuses=(201,),
    rule_errors=(PetNotAvailable, ProjectFull),
)
def create_order(project_id: int, pet_id: int, reference: str | None) -> Result:
    """Place an order.

    The animal must be `available`; it is `pending` from then on. Of several clients
    that order one animal at the same time, exactly one gets it.
    """
    order = Order.place(project_id, pet_id, reference)
    return Result(order, {"Location": f"{ORDERS}/{order.id}"})


@bp.get("/<id:order_id>")
@Contract(required_role=READ, returns=OrderSchema())
def get_order(project_id: int, order_id: int) -> Result:
    """Get an order."""
    return Result(Order.get_own(project_id, order_id))


@bp.patch("/<id:order_id>")
@Contract(
    required_role=WRITE,
    body=OrderChangeSchema(),
    returns=OrderSchema(),
    rule_errors=(OrderClosed,),
    example={"status": "completed", "updatedAt": "2027-03-18T09:30:00.000Z"},
)
def update_order(project_id: int, order_id: int, **changes: str | None) -> Result:
    """Close or correct an order.

    `completed` makes the animal `sold`, `cancelled` makes it `available` again. The
    reference of a closed order is corrected too.
    """
    return Result(Order.change(project_id, order_id, **changes))


@bp.delete("/<id:order_id>")
@Contract(required_role=WRITE, rule_errors=(OrderOpen,))
def delete_order(project_id: int, order_id: int) -> None:
    """Delete a closed order."""
    Order.remove(project_id, order_id)
