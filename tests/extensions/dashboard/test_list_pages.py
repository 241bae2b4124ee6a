"""What the lists of animals, orders and categories have in common."""

import re

import pytest

from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet
from tests.harness.databases import of_both_engines

ANIMALS, ORDERS = "/dashboard/animals", "/dashboard/orders"
CATEGORIES = "/dashboard/categories"
LISTS = (ANIMALS, ORDERS, CATEGORIES)
LINK = '<a [^>]*?href="([^"]+)"[^>]*>{}<'


@pytest.fixture(autouse=True)
def rows(project: Project) -> None:
    """45 animals in as many categories, and an order for each."""
    for number in range(45):
        Order.place(project.id, add_pet(project, f"Item {number}.", number))
        Category.rename(project.id, number, f"Item {number}.")


def shown(browser: Browser, path: str) -> list[int]:
    """Return the numbers in the names of the rows of a page, in its order."""
    rows = browser.get(path).text.partition("<tbody>")[2]
    return [
        int(n)
        for n in re.findall(r'row">\s*(?:<(?:a|div) [^>]*>)?<bdi>Item (\d+)\.', rows)
    ]


def link(browser: Browser, path: str, label: str) -> str:
    """Return the address behind a button of the list."""
    [address] = re.findall(LINK.format(label), browser.get(path).text)
    return address.replace("&amp;", "&")


@of_both_engines
def test_pages_lead_to_the_end_and_back_and_no_further(browser: Browser):
    for path in LISTS:
        order = list(range(45) if path == CATEGORIES else range(44, -1, -1))
        assert shown(browser, path) == order[:20]
        second = link(browser, path, "Next")
        third = link(browser, second, "Next")
        assert shown(browser, third) == order[40:]
        assert "Page 3 of 3 First" in browser.read(third)
        assert shown(browser, link(browser, third, "Previous")) == order[20:40]
        assert shown(browser, link(browser, third, "First")) == order[:20]
        last = link(browser, path, "Last")
        assert shown(browser, last) == order[25:]
        first = browser.read(path)
        assert re.search("45 (animals|reservations|categories) ", first)
        assert "Page 1 of 3 Next Last" in first
        assert "Previous" not in first
        assert "First Previous" in browser.read(last)
        assert "Next" not in browser.read(last)


def test_a_list_to_print_is_whole(browser: Browser, monkeypatch: pytest.MonkeyPatch):
    for path in LISTS:
        address = link(browser, f"{path}?limit=1&last=1", "Print the list")
        assert len(shown(browser, address)) == 45
        page = browser.read(address)
        for no in (
            "Next",
            "Rename category",
            "Adopted reservation",
            "These are the first",
        ):
            assert no not in page
    monkeypatch.setattr("petstore.extensions.dashboard.lists.MAX_WHOLE", 44)
    assert "These are the first 44." in browser.read(address)


def test_invalid_query_gets_an_error_page(browser: Browser):
    for query in (
        *("after=-1", "after=x", "before=1.5", "last=2", "limit=101", "x=1"),
        *("status=lost", "status=%ff", "limit=1&limit=1", "%ff=1", "category=dogs"),
    ):
        for path in LISTS:
            answer = browser.get(f"{path}?{query}")
            assert answer.status_code == 400
            assert "This link does not work" in answer.text
