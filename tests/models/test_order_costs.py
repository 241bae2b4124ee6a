"""Pages of orders and categories are read in index order, at a constant cost."""

from collections.abc import Callable
from itertools import product

import pytest

from petstore.database import data
from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.statements import Statement

# Rows per project; the older orders are completed, the newer ones still placed.
ORDERS, COMPLETED, CATEGORIES = 3_000, 2_500, 3_000
# LEFT is less than LIMIT: the last page must not read on into the rows that follow.
LIMIT, LEFT = 21, 20
# Both projects are read, as their rows are adjacent in the indexes.
OWNERS, PLACES = ("first", "second"), ("first", "last")

Read = Callable[[int, int], object]


def orders(status: str | None) -> Read:
    return lambda project, after: Order.page(
        project, after=after, limit=LIMIT, status=status
    )


def categories(project: int, after: int) -> object:
    return Category.page(project, after=after, limit=LIMIT)


# How a page is read, and the position in a project at which its rows end.
LISTS: dict[str, tuple[Read, int]] = {
    "orders": (orders(None), ORDERS),
    "completed orders": (orders("completed"), COMPLETED),
    "placed orders": (orders("placed"), ORDERS),
    "cancelled orders": (orders("cancelled"), ORDERS),
    "categories": (categories, CATEGORIES),
}


@pytest.fixture
def crowd(project: Project, rival: Project) -> dict[str, int]:
    """The ids of two projects with many rows; those of the second come later."""
    for owner in (project, rival):
        pet = Pet.add(owner.id, "Rex", 0, "sold")
        numbers = (
            "WITH RECURSIVE n (n) AS"
            f" (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {ORDERS})"
        )
        data.execute_sql(
            f"{numbers} INSERT INTO pet_order"
            " (project_id, pet_id, status, created_ms, updated_ms)"
            f" SELECT {owner.id}, {pet.id},"
            f" CASE WHEN n > {COMPLETED} THEN 'placed' ELSE 'completed' END, 0, 0"
            " FROM n"
        )
        data.execute_sql(
            f"{numbers} INSERT INTO category (project_id, id)"
            f" SELECT {owner.id}, n FROM n"
        )
    data.execute_sql("ANALYZE")
    return {"first": project.id, "second": rival.id}


@pytest.fixture
def page_of(
    crowd: dict[str, int], statements: list[Statement]
) -> Callable[[str, str, str], Statement]:
    """A function that returns the statement for the first or last page of a list."""

    def page_of(name: str, owner: str, place: str) -> Statement:
        read, rows = LISTS[name]
        start = ORDERS if owner == "second" and read is not categories else 0
        statements.clear()
        read(crowd[owner], start + rows - LEFT if place == "last" else 0)
        [statement] = statements
        return statement

    return page_of


@pytest.mark.parametrize("name", LISTS)
def test_page_is_read_in_index_order(name: str, page_of: Callable):
    for owner, place in product(OWNERS, PLACES):
        plan = page_of(name, owner, place).plan()
        assert "SEARCH" in plan or "Index Cond" in plan
        for detour in ("SCAN", "TEMP B-TREE", "Seq Scan", "Bitmap", "Sort", "Filter"):
            assert detour not in plan


@pytest.mark.parametrize("name", LISTS)
def test_last_page_costs_no_more_than_the_first(name: str, page_of: Callable):
    for owner in OWNERS:
        first, last = (page_of(name, owner, place).cost() for place in PLACES)
        # The last page may span two blocks where the first one fits in one.
        assert last <= first + 2
