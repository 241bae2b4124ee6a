"""Orders: placed, then completed or cancelled. An open one has its animal's status."""

import functools
from collections.abc import Iterable
from typing import NamedTuple, NoReturn, Self

from peewee import (
    BigAutoField,
    BigIntegerField,
    Case,
    Expression,
    ForeignKeyField,
    Query,
    TextField,
    fn,
)

from petstore import clock
from petstore.models import Conflict, NotFound, RuleError
from petstore.models.pets import Pet, PetNotAvailable, PetTable
from petstore.models.projects import Project, take_rows
from petstore.models.searching import Wanted, fold
from petstore.storage import BaseModel, Statement, db, page_statements, slot, statement
from petstore.storage.lists import List, Listed, Part, count_each

# Each with what the animal becomes.
CLOSED = {"completed": "sold", "cancelled": "available"}
STATUSES = ("placed", *CLOSED)


class PetUnknown(RuleError):
    code = "invalid_request"
    text = "petId: no animal with this id"


class OrderClosed(Conflict):
    code = "order_closed"


class OrderOpen(Conflict):
    code = "order_open"


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
        with db.atomic():
            take_rows(project_id)
            if not Pet.reserve(project_id, pet_id):
                _refuse_pet(project_id, pet_id)
            values = {
                "pet": pet_id,
                "reference": reference,
                "folded": fold(reference or ""),
                "now": clock.now_ms(),
            }
            [row] = _insert(project=project_id, **values)
        return cls(*row)

    @classmethod
    def change(cls, project_id: int, order_id: int, **changes: str | None) -> Self:
        """Close the order by a `status`, correct its `reference`, or both.

        `completed` sells the animal, `cancelled` makes it available again. Raises
        `NotFound`, and `OrderClosed` for the status of a closed order.
        """
        if "reference" in changes:
            changes["folded"] = fold(changes["reference"] or "")
        with db.atomic():
            change = _change(*sorted(changes))
            rows = change(
                project=project_id, id=order_id, now=clock.now_ms(), **changes
            )
            if not rows:
                order = cls.find(project_id, order_id)
                raise OrderClosed(order_id, order.status)
            order = cls(*rows[0])
            if "status" in changes:
                Pet.release(project_id, order.pet_id, CLOSED[order.status])
        return order

    @classmethod
    def delete(cls, project_id: int, order_id: int) -> None:
        """Delete a closed order; raises `NotFound` and `OrderOpen`."""
        with db.atomic():
            take_rows(project_id, -1)
            is_of_project = OrderTable.project == project_id
            is_closed = OrderTable.status != "placed"
            order = OrderTable.delete().where(is_of_project, OrderTable.id == order_id)
            if not order.where(is_closed).execute():
                cls.find(project_id, order_id)
                raise OrderOpen(order_id)

    @classmethod
    def find(cls, project_id: int, order_id: int) -> Self:
        """Return one order of the project; raises `NotFound`."""
        for row in _select_one(project=project_id, id=order_id):
            return cls(*row)
        raise NotFound("order", order_id)

    @classmethod
    def page(cls, project_id: int, **part: int | str) -> list[Self]:
        """Return orders of the project by ascending id, after the id `after`.

        There are at most `limit`; perhaps those with a `status` or a `pet_id`.
        """
        return list(map(cls._make, _page_by(*part)(project=project_id, **part)))

    @staticmethod
    def open_of(project_id: int, pet_ids: Iterable[int]) -> dict[int, int]:
        """Return the open orders of these animals: their ids, by those of animals."""
        rows = OrderTable.select(OrderTable.pet_id, OrderTable.id).where(
            OrderTable.project == project_id,
            OrderTable.pet_id.in_(list(pet_ids)),
            OrderTable.status == "placed",
        )
        return dict(rows.tuples().iterator())

    @staticmethod
    def listed(
        project_id: int, part: Part, *, status: str | None = None, name: str = ""
    ) -> Listed:
        """Return a part of the project's orders, newest first.

        `name` searches their references and the names of their animals, or is the
        number of an animal, as `Wanted` has it.
        """
        wanted = Wanted.of(name)
        return List(
            OrderTable.id,
            (
                (OrderTable.project, project_id),
                (OrderTable.pet_id, wanted.number),
                (OrderTable.status, status),
            ),
            _COLUMNS,
            Order._make,
            search=wanted.search(_reference_and_name()),
        ).show(part)

    @staticmethod
    def counts(project_id: int) -> dict[str, int]:
        filters = ((OrderTable.project, project_id),)
        return count_each(OrderTable.id, filters, OrderTable.status, STATUSES)


class OrderTable(BaseModel):
    id = BigAutoField()
    project = ForeignKeyField(Project, index=False)
    pet_id = BigIntegerField()  # the order stays when the animal is withdrawn
    status = TextField()
    created_ms = BigIntegerField()
    updated_ms = BigIntegerField()
    reference = TextField(null=True)
    # The reference, or an empty text, unless the release before has written it.
    folded = TextField(null=True)

    class Meta:
        table_name = "pet_order"
        is_limited = True  # by the plan
        indexes = (
            (("project", "id"), False),
            (("project", "status", "id"), False),
            (("project", "pet_id", "id"), False),
            (("project", "pet_id", "status", "id"), False),
        )


# For housekeeping.
OrderTable.add_index(OrderTable.id, where=OrderTable.folded.is_null())

_COLUMNS = tuple(getattr(OrderTable, name) for name in Order._fields)

_BY_ID = (OrderTable.project == slot("project")) & (OrderTable.id == slot("id"))

_page_by = page_statements(
    OrderTable.id, _COLUMNS, OrderTable.pet_id, OrderTable.status
)


def _reference_and_name() -> Expression:
    is_ordered = PetTable.id == OrderTable.pet_id
    pet = PetTable.select(PetTable.folded)
    name = pet.where(PetTable.project == OrderTable.project, is_ordered)
    return OrderTable.folded.concat(" ").concat(fn.COALESCE(name, ""))


@statement(db)
def _select_one() -> Query:
    return OrderTable.select(*_COLUMNS).where(_BY_ID)


def _refuse_pet(project_id: int, pet_id: int) -> NoReturn:
    Pet.require_no_order(project_id, pet_id)
    try:
        pet = Pet.find(project_id, pet_id)
    except NotFound:
        raise PetUnknown from None
    raise PetNotAvailable(pet_id, pet.status)


@statement(db)
def _insert() -> Query:
    return OrderTable.insert(
        project=slot("project"),
        pet_id=slot("pet"),
        status="placed",
        reference=slot("reference"),
        folded=slot("folded"),
        created_ms=slot("now"),
        updated_ms=slot("now"),
    ).returning(*_COLUMNS)


@functools.cache
def _change(*names: str) -> Statement:
    """Return the statement that changes these columns, the status of an open order."""
    # The clock may have been set back since the order was placed.
    was_set_back = OrderTable.created_ms > slot("now")
    updated_ms = Case(None, [(was_set_back, OrderTable.created_ms)], slot("now"))
    changes = {name: slot(getattr(OrderTable, name)) for name in names}
    condition = _BY_ID
    if "status" in names:
        condition &= OrderTable.status == "placed"
    return Statement(
        db,
        lambda: (
            OrderTable.update(changes | {"updated_ms": updated_ms})
            .where(condition)
            .returning(*_COLUMNS)
        ),
    )
