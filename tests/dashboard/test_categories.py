"""/dashboard/categories: adding, naming and deleting categories."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from petstore.models.categories import Category
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet, words
from tests.harness.databases import of_both_engines

CATEGORIES = "/dashboard/categories"
KINDS = {0: "Kind 0.", 1: None, 2: "Kind 2."}


@pytest.fixture(autouse=True)
def categories(project: Project, rival: Project) -> Iterator[None]:
    """Three categories, of which two have names, and an animal of the third one.

    Another project has animals of categories with the same numbers, and keeps them.
    """
    for number, name in KINDS.items():
        Category.ensure(project.id, number, name)
    add_pet(project, "Rex", 1)
    Category.ensure(rival.id, 1, "Rival's")
    for number in (1, 1, 2):
        add_pet(rival, "Tim", number)
    yield
    assert Pet.count_by_category(rival.id, {1, 2}) == {1: 2, 2: 1}


def names(project: Project) -> dict[int, str | None]:
    return dict(map(tuple, Category.page(project.id, after=-1, limit=100)))


def test_categories_are_listed_with_their_animals(browser: Browser):
    text = browser.read(f"{CATEGORIES}?limit=2")
    assert "Categories 3 categories" in text
    assert "0 Kind 0. Rename category 0" in text
    assert "Save category 1 1 animal of category 1" in text
    assert "Delete category 1 1 animal has it, so it cannot be deleted." in text


@of_both_engines
def test_category_is_named_on_row(browser: Browser, project: Project, rival: Project):
    answer = browser.submit(f"{CATEGORIES}/1?limit=2", name="Dogs")
    assert answer.location == f"{CATEGORIES}?limit=2"
    assert "Saved category 1." in browser.read(answer.location)
    assert "Saved category 2." in browser.follow(f"{CATEGORIES}/2", name="")
    assert names(project) == {0: "Kind 0.", 1: "Dogs", 2: None}
    assert names(rival) == {1: "Rival's", 2: None}


@of_both_engines
def test_a_name_of_another_category_is_refused(browser: Browser, project: Project):
    for path in (CATEGORIES, f"{CATEGORIES}/1", f"{CATEGORIES}/7"):
        answer = browser.submit(path, name=" KIND 2.")
        assert answer.status_code == 400
        assert "The category Kind 2. (no. 2) has this name already." in words(answer)
        assert 'value=" KIND 2."' in answer.text
    assert names(project) == KINDS


@of_both_engines
def test_a_category_is_merged_into_the_one_that_has_its_name(
    browser: Browser, client: FlaskClient, project: Project, monkeypatch: Any
):
    monkeypatch.setattr("petstore.models.pets.MOVED_AT_ONCE", 2)
    for name in ("Tim", "Tom"):
        add_pet(project, name, 1)
    refused = browser.submit(f"{CATEGORIES}/1", name="kind 2.")
    # Enter in the field presses the first button of its form.
    enter, _, rest = words(refused).partition("Save category 1 Or join both.")
    assert "Move its 3 animals to Kind 2. and delete this category" in rest
    assert "Move its" not in enter
    assert f'name="into" value="2" formaction="{CATEGORIES}/1/merge"' in refused.text
    assert browser.submit(f"{CATEGORIES}/1/merge", into="99").status_code == 404
    for _ in range(2):  # the second time, it was done before
        said = browser.follow(
            f"{CATEGORIES}/1/merge", into="2", name="kind 2.", idempotency_key="once"
        )
        told = "Moved the animals of category 1 to Kind 2., and deleted it."
        assert told in said
    assert {pet["categoryId"] for pet in client.get("/v1/pets").json} == {2}
    assert names(project) == {0: "Kind 0.", 2: "Kind 2."}


@of_both_engines
def test_a_category_without_animals_is_deleted(browser: Browser, project: Project):
    assert "Deleted category 2." in browser.follow(f"{CATEGORIES}/2/delete")
    said = browser.follow(f"{CATEGORIES}/1/delete")
    assert "Animals have the category 1: give them another" in said
    assert names(project) == {0: "Kind 0.", 1: None}


def test_wrong_name_is_shown_where_it_was_typed(browser: Browser, project: Project):
    answer = browser.submit(CATEGORIES, name="")
    assert "Name is required." in words(answer)
    assert '<details class="card adding" open>' in answer.text
    assert "Name must not contain" in browser.follow(CATEGORIES, name="a\x00b")
    assert "Name must have a character" in browser.follow(CATEGORIES, name="\u3164")
    told = "Name must have 1 to 200 characters."
    assert told in browser.follow(f"{CATEGORIES}/7", name="x" * 201)
    answer = browser.submit(f"{CATEGORIES}/2", name="x" * 201)
    row = answer.text.split("<tr>")[4]
    assert '<details name="naming" open>' in row
    assert told in row
    assert answer.text.count(" open>") == 1
    assert names(project) == KINDS
