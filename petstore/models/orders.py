"""Orders: placed, then completed or cancelled; they alone move an animal."""

from typing import NamedTuple

from peewee import (
    BigAutoField,
    BigIntegerField,
    Case,
    ForeignKeyField,
    Query,
    TextField,
)

from petstore import clock
from petstore.database import BaseModel, data
from petstore.errors import NotFound, OrderClosed, PetNotAvailable
from petstore.models.pages import page_by
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.statements import slot, statement

STATUSES = ("placed", "completed", "cancelled")


class NoSuchPet(Exception):
    """The project has no animal of that id."""


class OrderRow(NamedTuple):
    """An order as it was read or written."""

    id: int
    pet_id: int
    status: str
    created_ms: int
    updated_ms: int


class Order(BaseModel):
    """The wish of a project's client to adopt an animal."""

    id = BigAutoField()
    project = ForeignKeyField(Project, index=False)
    pet = ForeignKeyField(Pet)
    status = TextField()
    created_ms = BigIntegerField()
    updated_ms = BigIntegerField()

    class Meta:
        table_name = "pet_order"
        indexes = (
            (("project", "id"), False),
            (("project", "status", "id"), False),
        )

    @classmethod
    def place(cls, project_id: int, pet_id: int) -> OrderRow:
        """Order an available animal, which is pending from then on.

        Raises `PetNotAvailable` to all but one of those who order it at once, and
        `NoSuchPet`. Orders are committed in the order of their ids, as animals are.
        """
        now = clock.now_ms()
        with data.writing(project_id):
            data.lock_until_commit(project_id)
            if not Pet.move(project_id, pet_id, "available", "pending"):
                if Pet.find(project_id, pet_id) is None:
                    raise NoSuchPet
                raise PetNotAvailable(f"The animal {pet_id} is not available.")
            [row] = _insert(project=project_id, pet=pet_id, status="placed", now=now)
        return OrderRow(*row)

    @classmethod
    def complete(cls, project_id: int, order_id: int) -> OrderRow:
        """Hand the animal over: it is sold."""
        return cls._close(project_id, order_id, "completed", "sold")

    @classmethod
    def cancel(cls, project_id: int, order_id: int) -> OrderRow:
        """Give the animal up: it is available again."""
        return cls._close(project_id, order_id, "cancelled", "available")

    @classmethod
    def find(cls, project_id: int, order_id: int) -> OrderRow | None:
        """One order of the project."""
        rows = _one(project=project_id, id=order_id)
        return OrderRow(*rows[0]) if rows else None

    @classmethod
    def page(
        cls, project_id: int, *, after: int, limit: int, status: str | None
    ) -> list[OrderRow]:
        """Orders of the project by ascending id, from the first beyond `after` on."""
        page = _page if status is None else _page_by_status
        rows = page(project=project_id, after=after, status=status, limit=limit)
        return list(map(OrderRow._make, rows))

    @classmethod
    def _close(
        cls, project_id: int, order_id: int, status: str, pet_status: str
    ) -> OrderRow:
        """Raises `OrderClosed` where that was done before, and `NotFound`."""
        with data.writing(project_id):
            rows = _leave_placed(
                project=project_id, id=order_id, status=status, now=clock.now_ms()
            )
            if not rows:
                if cls.find(project_id, order_id) is None:
                    raise NotFound(f"There is no order {order_id}.")
                raise OrderClosed(f"The order {order_id} is closed.")
            order = OrderRow(*rows[0])
            Pet.move(project_id, order.pet_id, "pending", pet_status)
        return order


_COLUMNS = (Order.id, Order.pet, Order.status, Order.created_ms, Order.updated_ms)
_page = page_by(Order.id, _COLUMNS)
_page_by_status = page_by(Order.id, _COLUMNS, Order.status)


@statement(data)
def _one() -> Query:
    return Order.select(*_COLUMNS).where(
        Order.project == slot("project"), Order.id == slot("id")
    )


@statement(data)
def _insert() -> Query:
    return Order.insert(
        project=slot("project"),
        pet=slot("pet"),
        status=slot("status"),
        created_ms=slot("now"),
        updated_ms=slot("now"),
    ).returning(*_COLUMNS)


@statement(data)
def _leave_placed() -> Query:
    # The clock may have been set back since the order was placed.
    is_back = Order.created_ms > slot("now")
    updated_ms = Case(None, [(is_back, Order.created_ms)], slot("now"))
    return (
        Order.update(status=slot("status"), updated_ms=updated_ms)
        .where(
            Order.project == slot("project"),
            Order.id == slot("id"),
            Order.status == "placed",
        )
        .returning(*_COLUMNS)
    )
