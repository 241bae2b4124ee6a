"""/dashboard/categories: naming a category in place."""

import pytest

from petstore.models.categories import Category
from petstore.models.projects import Project
from tests.harness.browser import Browser, words
from tests.harness.databases import of_both_engines

CATEGORIES = "/dashboard/categories"


@pytest.fixture
def categories(project: Project) -> None:
    """Three categories from number 0 on, of which the even ones have names."""
    for number in range(3):
        Category.ensure(project.id, number, None if number % 2 else f"Kind {number}.")


def names(project: Project) -> dict[int, str | None]:
    return dict(map(tuple, Category.page(project.id, after=-1, limit=100)))


@pytest.mark.usefixtures("categories")
def test_categories_are_listed_by_number(browser: Browser):
    text = browser.read(f"{CATEGORIES}?limit=2")
    assert "Categories 3 categories" in text
    assert "0 Kind 0. Show animals" in text
    assert "1 No name Show animals" in text


@of_both_engines
@pytest.mark.usefixtures("categories")
def test_a_category_is_named_on_its_row(browser: Browser, project: Project):
    answer = browser.submit(f"{CATEGORIES}/1?limit=2", name="Dogs")
    assert answer.location == f"{CATEGORIES}?limit=2"
    assert "The category 1 is named Dogs." in browser.read(answer.location)
    assert names(project)[1] == "Dogs"


@pytest.mark.usefixtures("categories")
def test_an_empty_name_takes_the_name_away(browser: Browser, project: Project):
    told = browser.follow(f"{CATEGORIES}/2", name="")
    assert "The category 2 has no name now." in told
    assert names(project)[2] is None


@pytest.mark.usefixtures("categories")
def test_a_wrong_name_is_shown_on_its_row(browser: Browser, project: Project):
    answer = browser.submit(f"{CATEGORIES}/2", name="x" * 201)
    assert answer.status_code == 400
    row = answer.text.split("<tr>")[4]
    assert "<details open>" in row
    assert "Name must have 1 to 200 characters." in row
    assert answer.text.count(" open>") == 1
    assert names(project)[2] == "Kind 2."


def test_a_new_category_is_named(browser: Browser, project: Project):
    browser.submit(CATEGORIES, name="Dogs", categoryId="7")
    assert names(project) == {7: "Dogs"}


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"name": "", "categoryId": "7"}, "Name is required."),
        ({"name": "Dogs", "categoryId": ""}, "Number is required."),
        ({"name": "Dogs", "categoryId": "-1"}, "Number must be an integer from 0"),
        ({"name": "a\x00b", "categoryId": "7"}, "Name must not be blank and must"),
    ],
)
def test_wrong_fields_are_shown_with_their_faults(
    browser: Browser, project: Project, fields: dict[str, str], fault: str
):
    answer = browser.submit(CATEGORIES, **fields)
    assert answer.status_code == 400
    assert fault in words(answer)
    assert '<details class="card adding" open>' in answer.text
    assert not names(project)


def test_a_wrong_name_of_a_category_that_is_not_on_the_page_is_shown_above(
    browser: Browser,
):
    answer = browser.submit(f"{CATEGORIES}/7", name="x" * 201)
    assert answer.status_code == 400
    assert "Name must have 1 to 200 characters." in words(answer)


def test_a_category_is_named_in_its_own_project(
    browser: Browser, rival: Project, project: Project
):
    Category.ensure(rival.id, 7, "Rival's")
    browser.submit(f"{CATEGORIES}/7", name="Mine")
    assert (names(rival), names(project)) == ({7: "Rival's"}, {7: "Mine"})
