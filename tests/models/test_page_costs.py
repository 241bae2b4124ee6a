"""Pages are read along an index, and none costs more than the first one."""

from collections.abc import Callable

import pytest

from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.storage.database import data
from tests.harness.statements import Statement

# Rows of each list of a project; the older half has one status, the newer another.
ROWS = 3_000
# LEFT is less than LIMIT: the last page must not read on into the rows that follow.
LIMIT, LEFT = 21, 20

Read = Callable[[int, int], object]


def pets(status: str | None) -> Read:
    return lambda shop, after: Pet.page(shop, after=after, limit=LIMIT, status=status)


def orders(status: str | None) -> Read:
    return lambda shop, after: Order.page(shop, after=after, limit=LIMIT, status=status)


def categories(shop: int, after: int) -> object:
    return Category.page(shop, after=after, limit=LIMIT)


# How a page is read, and the number of the last row in a project.
LISTS: dict[str, tuple[Read, int]] = {
    "animals": (pets(None), ROWS),
    "sold animals": (pets("sold"), ROWS // 2),
    "available animals": (pets("available"), ROWS),
    "pending animals": (pets("pending"), ROWS),
    "orders": (orders(None), ROWS),
    "completed orders": (orders("completed"), ROWS // 2),
    "placed orders": (orders("placed"), ROWS),
    "cancelled orders": (orders("cancelled"), ROWS),
    "categories": (categories, ROWS),
}


@pytest.fixture
def shops(project: Project, rival: Project) -> list[tuple[int, int]]:
    """Two projects with many rows: the id of each, and how many ids come before."""
    for owner in (project, rival):
        numbers = (
            "WITH RECURSIVE n (n) AS"
            f" (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {ROWS})"
        )
        is_new = f"CASE WHEN n > {ROWS // 2} THEN"
        for table, columns, values in (
            (
                "pet",
                "name, category_id, status",
                f"'Rex', 1, {is_new} 'available' ELSE 'sold' END",
            ),
            (
                "pet_order",
                "pet_id, status, created_ms, updated_ms",
                f"1, {is_new} 'placed' ELSE 'completed' END, 0, 0",
            ),
            ("category", "id", "n"),
        ):
            data.execute_sql(
                f"{numbers} INSERT INTO {table} (project_id, {columns})"
                f" SELECT {owner.id}, {values} FROM n ORDER BY n"
            )
    data.execute_sql("ANALYZE")
    # Both are read, as their rows are adjacent in the indexes.
    return [(project.id, 0), (rival.id, ROWS)]


@pytest.fixture
def page_of(statements: list[Statement]) -> Callable[[Read, int, int], Statement]:
    """A function that returns the statement for a page."""

    def page_of(read: Read, shop: int, after: int) -> Statement:
        statements.clear()
        read(shop, after)
        [statement] = statements
        return statement

    return page_of


def test_every_page_is_as_cheap_as_the_first_one(
    shops: list[tuple[int, int]], page_of: Callable[..., Statement]
):
    dearer = {}
    for name, (read, last) in LISTS.items():
        for shop, others in shops:
            before = last - LEFT + (0 if read is categories else others)
            first, end = page_of(read, shop, 0), page_of(read, shop, before)
            # The last page may span two blocks where the first one fits in one.
            if end.cost() > 1.2 * first.cost() + 2:
                dearer[name] = (first.cost(), end.cost())
    assert dearer == {}


def test_pages_are_read_in_index_order(
    shops: list[tuple[int, int]], page_of: Callable[..., Statement]
):
    plans = {
        (name, after): page_of(read, shop, after).plan()
        for name, (read, last) in LISTS.items()
        for shop, others in shops
        for after in (0, others + last - LEFT, others + last)
    }
    plans["one animal"] = page_of(
        lambda shop, _: Pet.find(shop, 9), shops[0][0], 0
    ).plan()
    for name, plan in plans.items():
        assert "SEARCH" in plan or "Index" in plan, name
        for detour in ("SCAN", "TEMP B-TREE", "Seq Scan", "Bitmap", "Sort"):
            assert detour not in plan, name
