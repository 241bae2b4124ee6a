"""/dashboard/animals: the list, its status filter and its pages."""

import pytest
from flask.testing import FlaskClient

from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.dashboard.browser import Browser, words
from tests.statements import recorded

ANIMALS = "/dashboard/animals"


@pytest.fixture
def animals(project: Project) -> list[int]:
    """The ids of 30 animals in three categories; every third animal is sold."""
    return [
        Pet.add(project.id, f"Pet {n}.", n % 3, "available" if n % 3 else "sold").id
        for n in range(30)
    ]


def shown(browser: Browser, query: str = "") -> list[int]:
    """Return the numbers in the names of the animals on a page."""
    text = words(browser.get(f"{ANIMALS}{query}"))
    return [n for n in range(30) if f"Pet {n}." in text]


def test_first_page_links_to_the_next(browser: Browser, animals: list[int]):
    assert shown(browser) == list(range(20))
    page = browser.get(ANIMALS).text
    assert f'href="{ANIMALS}?after={animals[19]}"' in page
    assert shown(browser, f"?after={animals[19]}") == list(range(20, 30))


def test_last_page_links_to_the_first(browser: Browser, animals: list[int]):
    page = browser.get(f"{ANIMALS}?after={animals[19]}")
    assert "First page" in words(page)
    assert "Next page" not in words(page)


def test_status_filters_the_list_and_its_page_links(
    browser: Browser, animals: list[int]
):
    assert shown(browser, "?status=sold") == list(range(0, 30, 3))
    page = browser.get(f"{ANIMALS}?status=sold&limit=2").text
    assert f'href="{ANIMALS}?status=sold&amp;limit=2&amp;after={animals[3]}"' in page


def test_category_is_shown_by_name_or_else_by_id(
    browser: Browser, client: FlaskClient, animals: list[int]
):
    client.put("/v1/categories/1", json={"name": "Dogs"})
    text = words(browser.get(f"{ANIMALS}?limit=3"))
    assert "Pet 1. Dogs Available" in text
    assert "Pet 2. 2 Available" in text


def test_empty_parameters_are_ignored(browser: Browser, animals: list[int]):
    assert shown(browser, "?status=&after=") == list(range(20))


@pytest.mark.parametrize(
    "query", ["?status=lost", "?after=-1", "?after=x", "?limit=101", "?x=1"]
)
def test_invalid_query_gets_an_error_page(browser: Browser, query: str):
    answer = browser.get(f"{ANIMALS}{query}")
    assert answer.status_code == 400
    assert "mistyped" in words(answer)


def test_statement_count_does_not_depend_on_page_size(
    browser: Browser, animals: list[int]
):
    browser.get("/dashboard")  # the first page of a session takes more statements
    with recorded() as few:
        browser.get(f"{ANIMALS}?limit=1")
    with recorded() as many:
        browser.get(f"{ANIMALS}?limit=30")
    assert len(many) == len(few) == 5
