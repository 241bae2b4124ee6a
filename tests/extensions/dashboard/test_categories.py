"""/dashboard/categories: adding, naming and deleting categories."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from petstore.extensions.dashboard.categories import count_animals
from petstore.extensions.dashboard.histories import SHELTER
from petstore.extensions.dashboard.merges import Merge
from petstore.models.activity import Event
from petstore.models.categories import Category
from petstore.models.pets import Pet, remove_category
from petstore.models.projects import Project
from petstore.upkeep import housekeeping
from tests.harness.browser import Browser, add_pet, words
from tests.harness.databases import of_both_engines

CATEGORIES = "/dashboard/categories"
ANIMALS = "/dashboard/animals"
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
    assert count_animals(rival.id, {1, 2}) == {1: 2, 2: 1}


def names(project: Project) -> dict[int, str | None]:
    return dict(map(tuple, Category.page(project.id, after=-1, limit=100)))


def test_categories_are_listed_with_their_animals(browser: Browser):
    text = browser.read(f"{CATEGORIES}?limit=2")
    assert "Categories 3 categories" in text
    assert "0 Kind 0. 0 animals of category 0 Rename category 0" in text
    assert "1 No name 1 animal of category 1" in text
    assert "Delete category 1 Move its 1 animal to Kind 0." in text


@of_both_engines
def test_category_is_named_on_row(browser: Browser, project: Project, rival: Project):
    answer = browser.submit(f"{CATEGORIES}/1?limit=2", name="Dogs")
    assert answer.location == f"{CATEGORIES}?limit=2"
    assert "Renamed category 1: " in browser.read(answer.location)
    assert "Renamed category 2: " in browser.follow(f"{CATEGORIES}/2", name="")
    assert names(project) == {0: "Kind 0.", 1: "Dogs", 2: None}
    assert names(rival) == {1: "Rival's", 2: None}


@of_both_engines
def test_a_name_of_another_category_is_refused(browser: Browser, project: Project):
    for path in (CATEGORIES, f"{CATEGORIES}/1"):
        answer = browser.submit(path, name=" KIND 2.")
        assert answer.status_code == 400
        assert "The category Kind 2. (no. 2) has this name already." in words(answer)
        assert 'value=" KIND 2."' in answer.text
    assert names(project) == KINDS


@of_both_engines
def test_a_category_is_joined_with_the_one_that_has_its_name(
    browser: Browser, client: FlaskClient, project: Project, monkeypatch: Any
):
    monkeypatch.setattr("petstore.extensions.dashboard.merges.MOVED_AT_ONCE", 2)
    for name in ("Tim", "Tom"):
        add_pet(project, name, 1)
    refused = browser.submit(f"{CATEGORIES}/1", name="kind 2.")
    # Enter in the field presses the first button of its form.
    enter, _, rest = words(refused).partition("Save category 1 Or join both.")
    assert "Move its 3 animals to Kind 2. and delete this category" in rest
    assert "Move its" not in enter
    assert f'name="into" value="2" formaction="{CATEGORIES}/1/merge"' in refused.text
    for _ in range(2):  # the second time, it was done before
        said = browser.follow(
            f"{CATEGORIES}/1/merge", into="2", name="kind 2.", idempotency_key="once"
        )
        assert "Joined Category 1 with Kind 2.. Its animals move there" in said
    assert {pet["categoryId"] for pet in client.get("/v1/pets").json} == {2}
    assert names(project) == {0: "Kind 0.", 2: "Kind 2."}


@of_both_engines
def test_a_category_is_not_joined_with_itself_or_none(
    browser: Browser, project: Project
):
    for into, told in {
        "1": "A category cannot be joined with itself.",
        "99": "There is no category 99.",
    }.items():
        answer = browser.submit(f"{CATEGORIES}/1/merge", into=into)
        assert (answer.status_code, told in words(answer)) == (400, True)
    assert names(project) == KINDS
    assert not list(Merge.select())


@of_both_engines
def test_one_category_is_joined_at_a_time(browser: Browser, project: Project):
    Merge.begin(project.id, 1, 2)
    told = "Category 1 is being joined with Kind 2. at the moment."
    for source, target in ((2, 1), (0, 1), (2, 0), (1, 0), (0, 2)):
        assert told in browser.follow(f"{CATEGORIES}/{source}/merge", into=str(target))
    assert "Joined Category 1" in browser.follow(f"{CATEGORIES}/1/merge", into="2")
    assert names(project) == {0: "Kind 0.", 2: "Kind 2."}


@of_both_engines
def test_what_an_ended_worker_has_begun_is_finished(
    client: FlaskClient, project: Project
):
    Merge.begin(project.id, 1, 2)
    add_pet(project, "Tom", 1)  # by a program, which does not know
    housekeeping.delete_outdated()
    assert {pet["categoryId"] for pet in client.get("/v1/pets").json} == {2}
    assert names(project) == {0: "Kind 0.", 2: "Kind 2."}


@of_both_engines
def test_animals_move_once_whoever_adds_some(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    """Each animal that has moved comes back at once, and never moves again."""
    monkeypatch.setattr("petstore.extensions.dashboard.merges.MOVED_AT_ONCE", 2)
    pups = [add_pet(project, f"Pup {number}", 1) for number in range(5)]
    Merge.begin(project.id, 1, 2)
    moved = []
    move_after = Merge.move_after

    def move_and_return(self: Merge, pet_id: int) -> list[int]:
        moved.extend(ids := move_after(self, pet_id))
        Pet.update(category_id=1).where(Pet.project == project).execute()
        return ids

    monkeypatch.setattr(Merge, "move_after", move_and_return)
    Merge.carry_out(project.id)
    assert moved == [1, *pups, 1, pups[0]]
    assert names(project) == KINDS


@of_both_engines
def test_animals_stay_if_a_program_has_deleted_where_they_go(project: Project):
    Merge.begin(project.id, 1, 2)
    remove_category(project.id, 2)
    Merge.carry_out(project.id)
    assert names(project) == {0: "Kind 0.", 1: None}
    assert not list(Merge.select())


@of_both_engines
def test_an_old_form_founds_no_category_again(
    browser: Browser, project: Project, key: str
):
    browser.submit(f"{CATEGORIES}/0/delete")
    answer = browser.submit(f"{CATEGORIES}/0", name="Dogs")
    by = f"This was done by the key {key[:16]}."
    assert f"There is no category 0. Deleted category 0. {by}" in words(answer)
    assert 'value="Dogs"' in answer.text
    browser.submit(f"{CATEGORIES}/1/merge", into="2")
    answer = browser.submit(ANIMALS, name="Tom", categoryId="1")
    assert "There is no category 1. Joined Category 1 with" in words(answer)
    assert 'name="like" value="2">Take Kind 2.</button>' in answer.text
    assert "Category 1</option>" not in answer.text
    taken = browser.follow(ANIMALS, name="Tom", categoryId="1", like="2")
    assert "Added Tom (no. 5)." in taken
    assert "There is no category 1." in browser.follow(f"{ANIMALS}/5", categoryId="1")
    assert names(project) == {2: "Kind 2."}


@of_both_engines
def test_a_number_that_is_typed_is_one_that_is_there(
    browser: Browser, project: Project
):
    for typed in ("99", "#99", "99.0"):
        said = browser.follow(ANIMALS, name="Tom", category=typed)
        assert "There is no category 99. Choose another one." in said
    for typed in ("2", "#2", "2.0", "2,0"):
        assert "Added Tom" in browser.follow(ANIMALS, name="Tom", category=typed)
    assert names(project) == KINDS
    assert count_animals(project.id, {2}) == {2: 4}


@of_both_engines
def test_a_name_that_was_not_changed_is_not_saved(browser: Browser, project: Project):
    for fields in ({"name": "Kind 2.", "shown.name": "Kind 2."}, {"name": "Kind 2."}):
        assert "Nothing has changed." in browser.follow(f"{CATEGORIES}/2", **fields)
    assert not list(Event.select().where(Event.topic == SHELTER))


@of_both_engines
def test_a_category_without_animals_is_deleted(browser: Browser, project: Project):
    assert "Deleted category 2." in browser.follow(f"{CATEGORIES}/2/delete")
    said = browser.follow(f"{CATEGORIES}/1/delete")
    assert "Animals have the category 1: give them another" in said
    assert names(project) == {0: "Kind 0.", 1: None}


def test_wrong_name_is_shown_where_it_was_typed(browser: Browser, project: Project):
    answer = browser.submit(CATEGORIES, name="")
    assert "Name is required." in words(answer)
    assert '<details class="adding" open>' in answer.text
    assert "Name must not contain" in browser.follow(CATEGORIES, name="a\x00b")
    assert "Name must have a character" in browser.follow(CATEGORIES, name="\u3164")
    told = "Name must have 1 to 200 characters."
    assert told in browser.follow(f"{CATEGORIES}/1", name="x" * 201)
    answer = browser.submit(f"{CATEGORIES}/2", name="x" * 201)
    row = answer.text.split("<tr>")[4]
    assert '<details name="naming" open>' in row
    assert told in row
    assert answer.text.count(" open>") == 1
    assert names(project) == KINDS
