"""/v1/store/orders: place, list, get and close orders."""

from flask import Blueprint, g

from petstore.api.contract import Contract, Result
from petstore.api.idempotency import idempotent
from petstore.api.paging import page
from petstore.errors import OrderClosed, PetNotAvailable
from petstore.models.orders import Order
from petstore.routing import API_PREFIX
from petstore.schemas.orders import (
    NewOrderSchema,
    OrderChangeSchema,
    OrderQuery,
    OrderSchema,
)

ORDERS = f"{API_PREFIX}/store/orders"
CLOSE = {"completed": Order.complete, "cancelled": Order.cancel}
ORDER_ID = {"orderId": "$response.body#/id"}

bp = Blueprint("orders", __name__, url_prefix=ORDERS)


@bp.get("")
@Contract(query=OrderQuery(), returns=OrderSchema(many=True))
def list_orders(limit: int, after: int, status: str | None = None) -> Result:
    """List orders by ascending id."""
    rows = Order.page(g.caller.project_id, after=after, limit=limit + 1, status=status)
    return page(rows, limit)


@bp.post("")
@idempotent
@Contract(
    body=NewOrderSchema(),
    returns=OrderSchema(),
    statuses=(201,),
    failures=(PetNotAvailable,),
    links={"getOrder": ORDER_ID, "updateOrder": ORDER_ID},
)
def create_order(pet_id: int) -> Result:
    """Order an available animal, which is pending from then on."""
    order = Order.place(g.caller.project_id, pet_id)
    return Result(order, {"Location": f"{ORDERS}/{order.id}"}, is_created=True)


@bp.get("/<id:order_id>")
@Contract(returns=OrderSchema())
def get_order(order_id: int) -> Result:
    """Fetch one order."""
    return Result(Order.find(g.caller.project_id, order_id))


@bp.patch("/<id:order_id>")
@Contract(body=OrderChangeSchema(), returns=OrderSchema(), failures=(OrderClosed,))
def update_order(order_id: int, status: str) -> Result:
    """Complete an order, which sells the animal, or cancel it, which frees it."""
    return Result(CLOSE[status](g.caller.project_id, order_id))
