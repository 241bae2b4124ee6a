"""How many SQL statements each operation on animals, orders and categories takes."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from petstore.models import RuleError
from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.statements import Statement

REX = {"name": "Rex", "category_id": 7, "status": "available"}
# Ids of animals: available, ordered and nonexistent; ids of orders.
FREE, ORDERED, MISSING = 1, 2, 9
OPEN, CLOSED = 1, 2


@pytest.fixture
def shop(project: Project) -> int:
    for _ in range(2):
        Pet.add(project.id, **REX)
    Order.place(project.id, ORDERED)
    Order.cancel(project.id, Order.place(project.id, FREE).id)
    return project.id


OPERATIONS: dict[str, tuple[int, Callable[[int], object]]] = {
    "find an animal": (1, lambda shop: Pet.find(shop, FREE)),
    "list animals": (1, lambda shop: Pet.page(shop, after=0, limit=9, status=None)),
    "add an animal": (1, lambda shop: Pet.add(shop, **REX)),
    "first of a category": (3, lambda shop: Pet.add(shop, **REX | {"category_id": 8})),
    "place": (2, lambda shop: Order.place(shop, FREE)),
    "place too late": (2, lambda shop: Order.place(shop, ORDERED)),
    "place for nothing": (2, lambda shop: Order.place(shop, MISSING)),
    "complete": (2, lambda shop: Order.complete(shop, OPEN)),
    "cancel": (2, lambda shop: Order.cancel(shop, OPEN)),
    "close again": (2, lambda shop: Order.complete(shop, CLOSED)),
    "close nothing": (2, lambda shop: Order.complete(shop, MISSING)),
    "find an order": (1, lambda shop: Order.find(shop, OPEN)),
    "list orders": (1, lambda shop: Order.page(shop, after=0, limit=9, status="sold")),
    "list categories": (1, lambda shop: Category.page(shop, after=-1, limit=9)),
    "name a category": (2, lambda shop: Category.rename(shop, 7, "Cats")),
    "name a new category": (1, lambda shop: Category.rename(shop, 8, "Cats")),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_takes_few_statements(
    name: str, shop: int, statements: list[Statement]
):
    most, operate = OPERATIONS[name]
    statements.clear()
    with suppress(RuleError):
        operate(shop)
    assert len(statements) <= most
