"""Orders: placed, then completed or cancelled. They alone change an animal's status."""

from typing import Any, NamedTuple, Self

from peewee import (
    BigAutoField,
    BigIntegerField,
    Case,
    Field,
    ForeignKeyField,
    Query,
    TextField,
)

from petstore import clock
from petstore.models import Conflict, RuleError
from petstore.models.pets import NoSuchPet, Pet, PetNotAvailable
from petstore.models.projects import Project
from petstore.models.row_limits import row_limits
from petstore.storage import BaseModel, db, page_statement, slot, statement
from petstore.storage.lists import List, Listed, Part, by_id

STATUSES = ("placed", "completed", "cancelled")


class NoSuchOrder(RuleError):
    """The project has no order with that id."""

    code = "not_found"
    text = "There is no order {}."


class PetUnknown(RuleError):
    """The order names an animal that the project does not have."""

    code = "invalid_request"
    text = "petId: no animal with this id"


class OrderClosed(Conflict):
    """The order was completed or cancelled before."""

    code = "order_closed"


class Order(NamedTuple):
    """The wish of a client to adopt an animal."""

    id: int
    pet_id: int  # the animal may have been withdrawn
    status: str
    reference: str | None  # whose it is, in the words of whoever placed it
    created_ms: int
    updated_ms: int

    @classmethod
    def place(cls, project_id: int, pet_id: int, reference: str | None = None) -> Self:
        """Order an available animal, which becomes pending.

        Raises `ProjectFull`, `PetUnknown`, and `PetNotAvailable` for all but one of the
        clients that order it at once. Like animals, orders are committed in the order
        of their ids.
        """
        row_limits.require_room(project_id)
        with db.writing(project_id):
            if not Pet.reserve(project_id, pet_id):
                _require_pet(project_id, pet_id)
                raise PetNotAvailable(pet_id)
            values = {"pet": pet_id, "reference": reference, "now": clock.now_ms()}
            [row] = _insert(project=project_id, **values)
        return cls(*row)

    @classmethod
    def complete(cls, project_id: int, order_id: int) -> Self:
        """Sell the animal; raises `NoSuchOrder` and `OrderClosed`."""
        return cls._close(project_id, order_id, "completed", "sold")

    @classmethod
    def cancel(cls, project_id: int, order_id: int) -> Self:
        """Make the animal available again; raises `NoSuchOrder` and `OrderClosed`."""
        return cls._close(project_id, order_id, "cancelled", "available")

    @classmethod
    def find(cls, project_id: int, order_id: int) -> Self:
        """Return one order of the project; raises `NoSuchOrder`."""
        for row in _select_one(project=project_id, id=order_id):
            return cls(*row)
        raise NoSuchOrder(order_id)

    @classmethod
    def page(
        cls, project_id: int, *, after: int, limit: int, status: str | None
    ) -> list[Self]:
        """Return orders of the project by ascending id, after the id `after`."""
        select = _select_page if status is None else _select_page_of_status
        rows = select(project=project_id, after=after, status=status, limit=limit)
        return list(map(cls._make, rows))

    @classmethod
    def listed(
        cls, project_id: int, part: Part, *, status: str | None = None
    ) -> Listed:
        """Return a part of the project's orders, newest first."""
        filters = [] if status is None else [(OrderTable.status, status)]
        return cls._listed(project_id, part, *filters)

    @classmethod
    def of_pet(cls, project_id: int, pet_id: int, part: Part) -> Listed:
        """Return a part of the orders of an animal, newest first."""
        return cls._listed(project_id, part, (OrderTable.pet_id, pet_id))

    @classmethod
    def _listed(
        cls, project_id: int, part: Part, *filters: tuple[Field, Any]
    ) -> Listed:
        ranges = by_id(OrderTable.id, (OrderTable.project, project_id), *filters)
        return List(ranges, _COLUMNS, cls._make, is_descending=True).show(part)

    @classmethod
    def _close(
        cls, project_id: int, order_id: int, status: str, pet_status: str
    ) -> Self:
        values = {"status": status, "now": clock.now_ms()}
        with db.writing(project_id):
            rows = _close_if_placed(project=project_id, id=order_id, **values)
            if not rows:
                cls.find(project_id, order_id)
                raise OrderClosed(order_id)
            order = cls(*rows[0])
            Pet.release(project_id, order.pet_id, pet_status)
        return order


class OrderTable(BaseModel):
    """The orders of all projects."""

    id = BigAutoField()
    project = ForeignKeyField(Project, index=False)
    pet_id = BigIntegerField()  # the order stays when the animal is withdrawn
    status = TextField()
    created_ms = BigIntegerField()
    updated_ms = BigIntegerField()
    reference = TextField(null=True)

    class Meta:
        table_name = "pet_order"
        indexes = (
            (("project", "id"), False),
            (("project", "status", "id"), False),
            (("project", "pet_id", "id"), False),
        )


_COLUMNS = tuple(getattr(OrderTable, name) for name in Order._fields)

row_limits.include(OrderTable.id)

_select_page = page_statement(OrderTable.id, _COLUMNS)
_select_page_of_status = page_statement(OrderTable.id, _COLUMNS, OrderTable.status)


@statement(db)
def _select_one() -> Query:
    return OrderTable.select(*_COLUMNS).where(
        OrderTable.project == slot("project"),
        OrderTable.id == slot("id"),
    )


def _require_pet(project_id: int, pet_id: int) -> None:
    try:
        Pet.find(project_id, pet_id)
    except NoSuchPet:
        raise PetUnknown from None


@statement(db)
def _insert() -> Query:
    return OrderTable.insert(
        project=slot("project"),
        pet_id=slot("pet"),
        status="placed",
        reference=slot("reference"),
        created_ms=slot("now"),
        updated_ms=slot("now"),
    ).returning(*_COLUMNS)


@statement(db)
def _close_if_placed() -> Query:
    # The clock may have been set back since the order was placed.
    was_set_back = OrderTable.created_ms > slot("now")
    updated_ms = Case(None, [(was_set_back, OrderTable.created_ms)], slot("now"))
    return (
        OrderTable.update(status=slot("status"), updated_ms=updated_ms)
        .where(
            OrderTable.project == slot("project"),
            OrderTable.id == slot("id"),
            OrderTable.status == "placed",
        )
        .returning(*_COLUMNS)
    )
