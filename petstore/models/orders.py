"""Orders: placed, then completed or cancelled. An open one has its animal's status.

Only the dashboard reopens a closed one: `reopen` in its `orders.py`.
"""

from typing import Any, NoReturn

import peewee
from peewee import SQL, Case, Expression, Query, fn

from petstore import clock
from petstore.events import actor
from petstore.models import Conflict, NotFound, OfProject, RuleError
from petstore.models.keys import Key
from petstore.models.pets import Pet, PetNotAvailable, release, reserve
from petstore.models.projects import Project, take_rows
from petstore.models.searching import searchable
from petstore.storage import BaseModel, Row, compiled, db, placeholder

# The statuses of closed orders, each with the status that the animal then has.
CLOSED = {"completed": "sold", "cancelled": "available"}
STATUSES = ("placed", *CLOSED)


class PetUnknown(RuleError):
    code = "invalid_request"
    text = "petId: no animal with this id"


class OrderClosed(Conflict):
    code = "order_closed"


class OrderOpen(Conflict):
    code = "order_open"


class PetOrdered(PetNotAvailable):
    text = "The animal {} has the open order {}: complete or cancel it first."


class Order(OfProject, BaseModel):
    """The wish of a client to adopt an animal."""

    noun = "order"

    id = peewee.BigAutoField()
    project = peewee.ForeignKeyField(Project, index=False)
    pet_id = peewee.BigIntegerField()  # the order stays when the animal is withdrawn
    status = peewee.TextField()
    # Whose order it is, in the words of the client.
    reference = peewee.TextField(null=True)
    created_ms = peewee.BigIntegerField()
    updated_ms = peewee.BigIntegerField()
    folded = peewee.TextField(null=True)  # the reference, as `searchable` has it
    # The name of the animal once it is withdrawn, also as `searchable` has it.
    pet_name = peewee.TextField(null=True)
    pet_folded = peewee.TextField(null=True)
    # As `_select_actor` returns them; null in rows of old releases.
    placed_by = peewee.TextField(null=True)
    closed_by = peewee.TextField(null=True)

    class Meta:
        table_name = "pet_order"
        hidden = "project", "folded", "pet_name", "pet_folded", "placed_by", "closed_by"
        indexes = (
            (("project", "id"), False),
            (("project", "status", "id"), False),
            (("project", "pet_id", "id"), False),
            (("project", "pet_id", "status", "id"), False),
        )

    @classmethod
    def place(cls, project_id: int, pet_id: int, reference: str | None = None) -> Row:
        """Order an available animal, which becomes pending.

        Of several clients that order it at once, all but one get `PetNotAvailable`.
        Like animals, orders are committed in the order of their ids. Raises
        `ProjectFull` and `PetUnknown`, too.
        """
        with db.atomic():
            take_rows(project_id)
            if not reserve(project=project_id, id=pet_id):
                _refuse_pet(project_id, pet_id)
            values = {
                "pet": pet_id,
                "reference": reference,
                "folded": searchable(reference or ""),
                "now": clock.now_ms(),
                "actor": actor.get(),
            }
            [order] = _insert(project=project_id, **values)
        return order

    @classmethod
    def change(cls, project_id: int, order_id: int, **changes: str | None) -> Row:
        """Close the order by a `status`, correct its `reference`, or both.

        `completed` sells the animal, `cancelled` makes it available again. Raises
        `NotFound`, and `OrderClosed` for the status of a closed order.
        """
        if "reference" in changes:
            changes["folded"] = searchable(changes["reference"] or "")
        with db.atomic():
            values = {"project": project_id, "id": order_id, "now": clock.now_ms()}
            by = actor.get()
            rows = _change(*sorted(changes), actor=by, **values, **changes)
            if not rows:
                order = cls.get_own(project_id, order_id)
                raise OrderClosed(order_id, order.status)
            [order] = rows
            if "status" in changes:
                status = CLOSED[order.status]
                pet = {"project": project_id, "id": order.pet_id}
                release(**pet, status=status, order=order_id)
        return order

    @classmethod
    def remove(cls, project_id: int, order_id: int) -> None:
        """Delete a closed order; raises `NotFound` and `OrderOpen`."""
        with db.atomic():
            take_rows(project_id, -1)
            is_order = (cls.project == project_id) & (cls.id == order_id)
            if not cls.delete().where(is_order, cls.status != "placed").execute():
                cls.get_own(project_id, order_id)
                raise OrderOpen(order_id)


_BY_ID = (Order.project == placeholder("project")) & (Order.id == placeholder("id"))


def _select_actor() -> Expression:
    """Return who acts: the prefix of a key with its present label, or the operator."""
    label = Key.select(SQL("' '").concat(Key.label))
    of_key = label.where(Key.prefix == placeholder("actor"))
    return placeholder("actor").concat(fn.COALESCE(of_key, ""))


@compiled(db)
def _select_open_of() -> Query:
    columns = (Order.project, Order.pet_id, Order.status)
    values = (placeholder("project"), placeholder("pet_id"), "placed")
    equal = list(zip(columns, values, strict=True))
    return Order.select(Order.id).where(db.along_index(equal, Order.id >= 0))


def require_no_order(project_id: int, pet_id: int) -> None:
    """Raise `PetOrdered` for an animal that has an open order."""
    for (order_id,) in _select_open_of(project=project_id, pet_id=pet_id):
        raise PetOrdered(pet_id, order_id)


def correct_pet(project_id: int, pet_id: int, **changes: Any) -> Row:
    """Change what is given of an animal, and return it, as `Pet.correct` does.

    Raises `PetOrdered` for another status than that of its open order.
    """
    with db.atomic():
        if "status" in changes:
            take_rows(project_id, 0)  # no order is placed meanwhile
            if Pet.get_own(project_id, pet_id).status != changes["status"]:
                require_no_order(project_id, pet_id)
        return Pet.correct(project_id, pet_id, **changes)


def withdraw_pet(project_id: int, pet_id: int) -> None:
    """Delete an animal without an open order; its orders keep its id and its name.

    Raises `NotFound` and `PetOrdered`.
    """
    with db.atomic():
        take_rows(project_id, -1)  # no order is placed meanwhile
        require_no_order(project_id, pet_id)
        gone = Pet.delete().where(Pet.project == project_id, Pet.id == pet_id)
        pet = next(iter(gone.returning(Pet.name, Pet.folded).execute()), None)
        if pet is None:
            raise NotFound(Pet.noun, pet_id)
        kept = Order.update(pet_name=pet.name, pet_folded=pet.folded)
        kept.where(Order.project == project_id, Order.pet_id == pet_id).execute()


def _refuse_pet(project_id: int, pet_id: int) -> NoReturn:
    require_no_order(project_id, pet_id)
    pet = Pet.find_own(project_id, pet_id)
    if pet is None:
        raise PetUnknown
    raise PetNotAvailable(pet_id, pet.status)


@compiled(db)
def _insert() -> Query:
    return Order.insert(
        project=placeholder("project"),
        pet_id=placeholder("pet"),
        status="placed",
        reference=placeholder("reference"),
        folded=placeholder("folded"),
        created_ms=placeholder("now"),
        updated_ms=placeholder("now"),
        placed_by=_select_actor(),
    ).returning(*Order.columns())


@compiled(db)
def _change(*names: str) -> Query:
    """Change these columns; the status only of an open order."""
    # The clock may have been set back since the order was placed.
    was_set_back = Order.created_ms > placeholder("now")
    updated_ms = Case(None, [(was_set_back, Order.created_ms)], placeholder("now"))
    changes: dict[str, Any] = {n: placeholder(getattr(Order, n)) for n in names}
    if "status" in names:
        changes["closed_by"] = _select_actor()
    update = Order.update(changes | {"updated_ms": updated_ms}).where(_BY_ID)
    if "status" in names:
        update = update.where(Order.status == "placed")
    return update.returning(*Order.columns())
