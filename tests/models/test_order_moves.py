"""An order and its pet change status together or not at all."""

import pytest
from peewee import OperationalError

from petstore.models import orders
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project


def fail(*_: object, **__: object) -> None:
    raise OperationalError("The disk is full.")


def test_order_and_pet_stay_as_they_are_if_one_cannot_be_written(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    rex = Pet.add(project.id, name="Rex", category_id=7, status="available").id
    with monkeypatch.context() as patch:
        patch.setattr(orders, "_insert", fail)
        with pytest.raises(OperationalError):
            Order.place(project.id, rex)
    assert Pet.find(project.id, rex).status == "available"
    assert Order.page(project.id, after=0, limit=1) == []
    placed = Order.place(project.id, rex)
    monkeypatch.setattr(Pet, "release", fail)
    for status in ("completed", "cancelled"):
        with pytest.raises(OperationalError):
            Order.change(project.id, placed.id, status=status)
    assert Order.page(project.id, after=0, limit=1) == [placed]
    assert Pet.find(project.id, rex).status == "pending"
