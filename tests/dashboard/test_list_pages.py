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
BUTTON = 'class="button[^"]*" href="([^"]+)"[^>]*>{}<'
each_list = pytest.mark.parametrize("path", [ANIMALS, ORDERS, CATEGORIES])


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
        int(n) for n in re.findall(r'row">\s*(?:<a [^>]*>)?<bdi>Item (\d+)\.', rows)
    ]


def link(browser: Browser, path: str, label: str) -> str:
    """Return the address behind a button of the list."""
    [address] = re.findall(BUTTON.format(label), browser.get(path).text)
    return address.replace("&amp;", "&")


@of_both_engines
@each_list
def test_pages_lead_to_the_end_and_back(browser: Browser, path: str):
    order = list(range(45) if path == CATEGORIES else range(44, -1, -1))
    assert shown(browser, path) == order[:20]
    second = link(browser, path, "Next")
    third = link(browser, second, "Next")
    assert shown(browser, third) == order[40:]
    assert shown(browser, link(browser, third, "Previous")) == order[20:40]
    assert shown(browser, link(browser, third, "First")) == order[:20]
    assert shown(browser, link(browser, path, "Last")) == order[25:]


@each_list
def test_the_ends_of_a_list_have_no_links_beyond_them(browser: Browser, path: str):
    first = browser.read(path)
    assert re.search("45 (animals|orders|categories) ", first)
    assert "Next Last" in first
    assert "Previous" not in first
    last = browser.read(f"{path}?last=1")
    assert "First Previous" in last
    assert "Next" not in last


@each_list
def test_a_list_to_print_is_whole(
    browser: Browser, path: str, monkeypatch: pytest.MonkeyPatch
):
    address = link(browser, f"{path}?limit=1&last=1", "Print")
    assert len(shown(browser, address)) == 45
    page = browser.read(address)
    assert "Next" not in page
    assert "Rename category" not in page
    assert "Complete order" not in page
    assert "These are the first" not in page
    monkeypatch.setattr("petstore.dashboard.lists.MAX_WHOLE", 44)
    assert "These are the first 44." in browser.read(address)


@each_list
@pytest.mark.parametrize(
    "query",
    [
        *("after=-1", "after=x", "before=1.5", "last=2", "limit=101", "x=1"),
        *("status=lost", "status=%ff", "limit=1&limit=1", "%ff=1"),
    ],
)
def test_invalid_query_gets_an_error_page(browser: Browser, path: str, query: str):
    answer = browser.get(f"{path}?{query}")
    assert answer.status_code == 400
    assert "Invalid link" in answer.text
