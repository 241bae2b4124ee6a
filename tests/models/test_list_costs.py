"""Every page of a list is read along an index, and costs what the first one costs."""

from collections.abc import Callable, Iterator
from itertools import chain

import pytest

from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.storage import lists
from petstore.storage.database import db
from petstore.storage.lists import Part
from tests.harness.statements import Statement, recorded

# Rows of two projects; the older half of each has one status, the newer another.
FEW, MANY = 2_100, 14_700
# LEFT is less than LIMIT: the last page must not read on into the rows that follow.
LIMIT, LEFT = 21, 20

Show = Callable[[int, Part], object]


def page(show: Callable[..., object], **filters: str | None) -> Show:
    """Show a list of the API, which only goes forward."""
    return lambda shop, part: show(
        shop, after=part.after or 0, limit=part.limit, **filters
    )


def listed(**filters: str | int) -> Show:
    """Show a list of the dashboard."""
    return lambda shop, part: Pet.listed(shop, part, **filters)


API = [
    *(page(Pet.page, status=each) for each in (None, "sold", "available", "pending")),
    *(
        page(Pet.page, category_id=category, status=status)
        for category in (7, 8)
        for status in (None, "sold", "available", "pending")
    ),
    *(page(Order.page, status=each) for each in (None, "completed", "placed", "lost")),
    page(Category.page),
]
DASHBOARD = [
    listed(),
    listed(status="sold"),
    listed(category_id=7),
    listed(name="rex"),
    listed(name="REX", category_id=8, status="pending"),
]


@pytest.fixture
def shops(
    database_url: str, project: Project, rival: Project, request: pytest.FixtureRequest
) -> list[tuple[int, range]]:
    """A project with few rows and one with many: its id, and the ids of its rows."""
    ids = range(1, FEW + 1), range(FEW + 1, FEW + MANY + 1)
    shops = list(zip((rival.id, project.id), ids, strict=True))
    for shop, numbers in shops:
        is_new = f"CASE WHEN n > {numbers[len(numbers) // 2]} THEN"
        for insert, values in (
            (
                "pet (project_id, name, category_id, status)",
                f"'Rex', 7, {is_new} 'available' ELSE 'sold' END",
            ),
            (
                "pet_order (project_id, pet_id, status, created_ms, updated_ms)",
                f"1, {is_new} 'placed' ELSE 'completed' END, 0, 0",
            ),
            ("category (project_id, id)", "n"),
        ):
            db.execute_sql(
                f"WITH RECURSIVE n (n) AS (SELECT {numbers[0]}"
                f" UNION ALL SELECT n + 1 FROM n WHERE n < {numbers[-1]})"
                f" INSERT INTO {insert} SELECT {shop}, {values} FROM n ORDER BY n"
            )
    db.execute_sql("ANALYZE")
    if database_url.startswith("postgresql"):
        # The rows would lie wherever earlier tests have deleted others.
        connection = request.getfixturevalue("postgresql")
        connection.execute("VACUUM FULL pet, pet_order, category")
        connection.execute("VACUUM pet, pet_order, category")
    return shops


def parts(ids: range) -> Iterator[Part]:
    """Yield the first page, and pages around the middle and at the end."""
    yield Part(LIMIT)
    for last in (len(ids) // 2, len(ids) - 1):
        yield Part(LIMIT, after=ids[last - LEFT])
        yield Part(LIMIT, after=ids[last])


def backward(ids: range) -> Iterator[Part]:
    yield Part(LIMIT, before=ids[len(ids) // 2])
    yield Part(LIMIT, is_last=True)


def statements_of(show: Show, shop: int, part: Part) -> list[Statement]:
    with recorded() as statements:
        show(shop, part)
    return statements


def test_every_page_costs_what_the_first_one_costs_along_an_index(
    shops: list[tuple[int, range]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lists, "MAX_COUNTED", FEW // 4)  # each half has more rows
    for show in (*API, *DASHBOARD):
        both = backward if show in DASHBOARD else lambda _: ()
        pages = [
            statements_of(show, shop, part)
            for shop, ids in shops
            for part in chain(parts(ids), both(ids))
        ]
        first, *costs = [sum(map(Statement.cost, page)) for page in pages]
        assert max(costs) <= 1.5 * first + 5, (pages[0], first, costs)
        for statement in chain(*pages):
            plan = statement.plan()
            assert "SEARCH" in plan or "Index" in plan
            for detour in ("SCAN t1", "TEMP B-TREE", "Seq Scan", "Bitmap", "Sort"):
                assert detour not in plan, statement.sql
