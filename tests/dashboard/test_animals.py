"""Animals to look at: filtered, a page at a time."""

import pytest
from flask.testing import FlaskClient

from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.dashboard.browser import Browser, words
from tests.statements import recorded

ANIMALS = "/dashboard/animals"


@pytest.fixture
def animals(project: Project) -> list[int]:
    """The ids of 30 animals of three categories, each third of them sold."""
    return [
        Pet.add(project.id, f"Pet {n}.", n % 3, "available" if n % 3 else "sold").id
        for n in range(30)
    ]


def shown(browser: Browser, query: str = "") -> list[int]:
    """Which of the animals a page shows, by the numbers in their names."""
    text = words(browser.get(f"{ANIMALS}{query}"))
    return [n for n in range(30) if f"Pet {n}." in text]


def test_the_first_page_leads_to_the_next(browser: Browser, animals: list[int]):
    assert shown(browser) == list(range(20))
    page = browser.get(ANIMALS).text
    assert f'href="{ANIMALS}?after={animals[19]}"' in page
    assert shown(browser, f"?after={animals[19]}") == list(range(20, 30))


def test_the_last_page_leads_to_the_first(browser: Browser, animals: list[int]):
    page = browser.get(f"{ANIMALS}?after={animals[19]}")
    assert "First page" in words(page)
    assert "Next page" not in words(page)


def test_a_status_narrows_the_list_and_its_pages(browser: Browser, animals: list[int]):
    assert shown(browser, "?status=sold") == list(range(0, 30, 3))
    page = browser.get(f"{ANIMALS}?status=sold&limit=2").text
    assert f'href="{ANIMALS}?status=sold&amp;limit=2&amp;after={animals[3]}"' in page


def test_a_category_is_shown_by_its_name_once_it_has_one(
    browser: Browser, client: FlaskClient, animals: list[int]
):
    client.put("/v1/categories/1", json={"name": "Dogs"})
    text = words(browser.get(f"{ANIMALS}?limit=3"))
    assert "Pet 1. Dogs Available" in text
    assert "Pet 2. 2 Available" in text


def test_fields_left_empty_ask_for_nothing(browser: Browser, animals: list[int]):
    assert shown(browser, "?status=&after=") == list(range(20))


@pytest.mark.parametrize(
    "query", ["?status=lost", "?after=-1", "?after=x", "?limit=101", "?x=1"]
)
def test_an_address_that_asks_for_nonsense_is_a_page_that_says_so(
    browser: Browser, query: str
):
    answer = browser.get(f"{ANIMALS}{query}")
    assert answer.status_code == 400
    assert "mistyped" in words(answer)


def test_a_page_of_many_takes_no_more_statements_than_one_of_few(
    browser: Browser, animals: list[int]
):
    browser.get("/dashboard")  # the first page of a session costs more
    with recorded() as few:
        browser.get(f"{ANIMALS}?limit=1")
    with recorded() as many:
        browser.get(f"{ANIMALS}?limit=30")
    assert len(many) == len(few) == 5
