"""/dashboard/categories: adding, naming and deleting categories."""

import pytest

from petstore.models.categories import Category
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet, words
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
def test_categories_are_listed_with_their_animals(browser: Browser, project: Project):
    add_pet(project, "Rex", 1)
    text = browser.read(f"{CATEGORIES}?limit=2")
    assert "Categories 3 categories" in text
    assert "0 Kind 0. 0 animals of category 0 Rename" in text
    assert "1 No name 1 animal of category 1 Rename" in text


@of_both_engines
@pytest.mark.usefixtures("categories")
def test_a_category_is_named_on_its_row(browser: Browser, project: Project):
    answer = browser.submit(f"{CATEGORIES}/1?limit=2", name="Dogs")
    assert answer.location == f"{CATEGORIES}?limit=2"
    assert "The category 1 is saved." in browser.read(answer.location)
    assert names(project)[1] == "Dogs"


@pytest.mark.usefixtures("categories")
def test_an_empty_name_takes_the_name_away(browser: Browser, project: Project):
    told = browser.follow(f"{CATEGORIES}/2", name="")
    assert "The category 2 is saved." in told
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


def test_a_new_category_gets_the_next_number(browser: Browser, project: Project):
    assert "Dogs is added, with the number 1." in browser.follow(
        CATEGORIES, name="Dogs"
    )
    assert names(project) == {1: "Dogs"}


@of_both_engines
@pytest.mark.usefixtures("categories")
@pytest.mark.parametrize("path", [CATEGORIES, f"{CATEGORIES}/1", f"{CATEGORIES}/7"])
def test_a_name_that_another_category_has_is_refused(
    browser: Browser, project: Project, path: str
):
    answer = browser.submit(path, name=" KIND 2.")
    assert answer.status_code == 400
    assert "The category 2 has this name already." in words(answer)
    assert 'value=" KIND 2."' in answer.text
    assert names(project) == {0: "Kind 0.", 1: None, 2: "Kind 2."}


@of_both_engines
@pytest.mark.usefixtures("categories")
def test_a_category_is_deleted_unless_an_animal_has_it(
    browser: Browser, project: Project
):
    add_pet(project, "Rex", 1)
    for number in (1, 2):
        told = browser.follow(f"{CATEGORIES}/{number}/delete")
        assert ("is deleted" in told) == (number == 2)
    assert "Animals have the category 1: give them another" in browser.follow(
        f"{CATEGORIES}/1/delete"
    )
    assert names(project) == {0: "Kind 0.", 1: None}


@pytest.mark.parametrize(
    ("name", "fault"),
    [("", "Name is required."), ("a\x00b", "Name must not be blank and must")],
)
def test_a_wrong_name_is_shown_with_its_fault(
    browser: Browser, project: Project, name: str, fault: str
):
    answer = browser.submit(CATEGORIES, name=name)
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
