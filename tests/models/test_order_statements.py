"""The SQL statements of each operation on orders and categories."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from petstore.models import Refused
from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.statements import Statement

LOCK = "SELECT"  # pg_advisory_xact_lock, on PostgreSQL only
# Ids of pets: available, ordered and nonexistent.
FREE, ORDERED, MISSING = 1, 2, 9
# Ids of orders.
OPEN, CLOSED = 1, 2


@pytest.fixture
def shop(project: Project) -> int:
    for status in ("available", "available"):
        Pet.add(project.id, "Rex", 7, status)
    Order.place(project.id, ORDERED)
    Order.cancel(project.id, Order.place(project.id, FREE).id)
    Category.rename(project.id, 7, "Dogs")
    return project.id


VERBS: dict[str, tuple[Callable[[int], object], list[str]]] = {
    "place": (
        lambda project: Order.place(project, FREE),
        [LOCK, "UPDATE pet", "INSERT pet_order"],
    ),
    "place too late": (
        lambda project: Order.place(project, ORDERED),
        [LOCK, "UPDATE pet", "SELECT pet"],
    ),
    "place for nothing": (
        lambda project: Order.place(project, MISSING),
        [LOCK, "UPDATE pet", "SELECT pet"],
    ),
    "complete": (
        lambda project: Order.complete(project, OPEN),
        ["UPDATE pet_order", "UPDATE pet"],
    ),
    "cancel": (
        lambda project: Order.cancel(project, OPEN),
        ["UPDATE pet_order", "UPDATE pet"],
    ),
    "close again": (
        lambda project: Order.complete(project, CLOSED),
        ["UPDATE pet_order", "SELECT pet_order"],
    ),
    "close nothing": (
        lambda project: Order.complete(project, MISSING),
        ["UPDATE pet_order", "SELECT pet_order"],
    ),
    "find": (lambda project: Order.find(project, OPEN), ["SELECT pet_order"]),
    "page": (
        lambda project: Order.page(project, after=0, limit=21, status=None),
        ["SELECT pet_order"],
    ),
    "page by status": (
        lambda project: Order.page(project, after=0, limit=21, status="placed"),
        ["SELECT pet_order"],
    ),
    "page of categories": (
        lambda project: Category.page(project, after=-1, limit=21),
        ["SELECT category"],
    ),
    "name": (
        lambda project: Category.rename(project, 7, "Cats"),
        ["INSERT category", "UPDATE category"],
    ),
    "name what is new": (
        lambda project: Category.rename(project, 8, "Cats"),
        ["INSERT category"],
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_operation_runs_the_expected_statements(
    verb: str, shop: int, database_url: str, statements: list[Statement]
):
    deed, expected = VERBS[verb]
    statements.clear()
    with suppress(Refused):
        deed(shop)
    is_locking = database_url.startswith("postgresql")
    assert [statement.gist for statement in statements] == [
        statement for statement in expected if is_locking or statement != LOCK
    ]
