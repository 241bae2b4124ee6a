"""/dashboard/orders: the list, its status filter and its pages."""

import pytest

from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.dashboard.browser import Browser, words
from tests.statements import recorded

ORDERS = "/dashboard/orders"


@pytest.fixture
def orders(project: Project) -> list[int]:
    """The ids of 25 orders; the first is completed and the second cancelled."""
    pets = [Pet.add(project.id, f"Pet {n}.", 7, "available") for n in range(25)]
    orders = [Order.place(project.id, pet.id).id for pet in pets]
    Order.complete(project.id, orders[0])
    Order.cancel(project.id, orders[1])
    return orders


def test_an_order_is_shown_with_its_animal(browser: Browser, orders: list[int]):
    text = words(browser.get(f"{ORDERS}?limit=3"))
    assert "Pet 0. #1 17 Mar 2027 12:00 UTC 17 Mar 2027 12:00 UTC Completed" in text
    assert text.index("Completed") < text.rindex("Cancelled") < text.rindex("Placed")


def test_first_page_links_to_the_next(browser: Browser, orders: list[int]):
    assert f'href="{ORDERS}?after={orders[19]}"' in browser.get(ORDERS).text
    text = words(browser.get(f"{ORDERS}?after={orders[19]}"))
    assert "Pet 20." in text
    assert "Pet 19." not in text


def test_status_filters_the_list(browser: Browser, orders: list[int]):
    text = words(browser.get(f"{ORDERS}?status=cancelled"))
    assert "Pet 1." in text
    assert "Pet 0." not in text


@pytest.mark.parametrize("query", ["?status=sold", "?after=x"])
def test_invalid_query_is_refused(browser: Browser, query: str):
    assert browser.get(f"{ORDERS}{query}").status_code == 400


def test_statement_count_does_not_depend_on_page_size(
    browser: Browser, orders: list[int]
):
    browser.get("/dashboard")  # the first page of a session takes more statements
    with recorded() as few:
        browser.get(f"{ORDERS}?limit=1")
    with recorded() as many:
        browser.get(f"{ORDERS}?limit=25")
    assert len(many) == len(few) == 5
