"""An order and its pet change status together or not at all."""

import pytest
from peewee import OperationalError

from petstore.models import orders
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project


@pytest.fixture
def rex(project: Project) -> int:
    return Pet.add(project.id, name="Rex", category_id=7, status="available").id


@pytest.fixture
def placed(project: Project, rex: int) -> Order:
    return Order.place(project.id, rex)


def fail(*_: object, **__: object) -> None:
    raise OperationalError("The disk is full.")


def orders_of(project: Project) -> list[Order]:
    return Order.page(project.id, after=0, limit=100)


def test_pet_stays_available_if_its_order_cannot_be_inserted(
    project: Project, rex: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(orders, "_insert", fail)
    with pytest.raises(OperationalError):
        Order.place(project.id, rex)
    assert Pet.find(project.id, rex).status == "available"
    assert orders_of(project) == []


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_order_stays_placed_if_its_pet_cannot_be_updated(
    status, project: Project, placed: Order, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Pet, "release", fail)
    with pytest.raises(OperationalError):
        Order.change(project.id, placed.id, status=status)
    assert orders_of(project) == [placed]
    assert Pet.find(project.id, placed.pet_id).status == "pending"
