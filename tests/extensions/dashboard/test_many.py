"""/dashboard/animals/many: animals that are ticked in the list change together."""

import re

import pytest

from petstore.extensions.dashboard.many import PART, WHAT
from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet
from tests.harness.databases import of_both_engines

ANIMALS = "/dashboard/animals"
MANY = f"{ANIMALS}/many"
SOLD, DOGS = "status.sold", "category.8"


@pytest.fixture
def three(project: Project) -> list[int]:
    return [add_pet(project, name) for name in ("Rex", "Bo", "Di")]


def ticks(ids: list[int]) -> dict[str, str]:
    return {f"tick.{pet_id}": "on" for pet_id in ids}


def answer(browser: Browser, what: str, ids: list[int], query: str = "") -> str:
    """Tick animals, say what happens to them, and answer yes; return the page."""
    question = browser.submit(f"{MANY}{query}", **{WHAT: what}, **ticks(ids)).text
    asked = re.search('name="tick.all" value="([^"]*)"', question)
    assert asked, question
    fields = {WHAT: what, "tick.all": asked[1]}
    return browser.get(browser.submit(f"{MANY}/change{query}", **fields).location).text


def take_back(browser: Browser, page: str) -> str:
    notice = page.partition('class="steps"')[2].partition("</form>")[0]
    fields = re.findall('name="(tick[.]what|tick[.]was)" value="([^"]*)"', notice)
    assert "Undo: change them back" in notice
    return browser.follow(f"{MANY}/back", **dict(fields))


def statuses(project: Project) -> list[str]:
    return [pet.status for pet in Pet.page(project.id, after=0, limit=100)]


@of_both_engines
def test_ticked_animals_get_a_status_and_it_is_taken_back(
    browser: Browser, project: Project, three: list[int]
):
    page = answer(browser, SOLD, three[:2])
    assert "Changed 2 animals to Adopted." in page
    assert statuses(project) == ["sold", "sold", "available"]
    read = browser.read(f"{ANIMALS}/{three[0]}")
    assert "Changed the status of Rex: Available → Adopted." in read
    said = take_back(browser, page)
    assert "Changed 2 animals back." in said
    assert statuses(project) == ["available"] * 3


@of_both_engines
def test_ticked_animals_get_a_category_and_it_is_taken_back(
    browser: Browser, project: Project, three: list[int]
):
    Category.rename(project.id, 8, "{Dogs}")
    Order.place(project.id, three[0])
    page = answer(browser, DOGS, three)
    assert "Changed 3 animals to {Dogs}." in page
    pets = Pet.page(project.id, after=0, limit=9)
    assert {pet.category_id for pet in pets} == {8}
    assert "Changed 3 animals back." in take_back(browser, page)


@of_both_engines
def test_ticked_animals_are_removed_like_a_single_one(
    browser: Browser, project: Project, three: list[int]
):
    page = answer(browser, "remove", three[:2])
    assert "Removed 2 animals." in page
    assert "Undo" not in page
    assert [pet.name for pet in Pet.page(project.id, after=0, limit=9)] == ["Di"]
    assert "Removed Rex (no. 1). This was done by" in browser.read(f"{ANIMALS}/1")


def test_the_question_names_the_animals_and_what_is_left_out(
    browser: Browser, project: Project, three: list[int], rival: Project
):
    order = Order.place(project.id, three[0])
    Pet.correct(project.id, three[1], status="sold")
    foreign = add_pet(rival, "Foreign")
    asked = browser.follow(MANY, **{WHAT: SOLD}, **ticks([*three, foreign]))
    assert "Change 1 animal to Adopted? Di no. 3" in asked
    assert f"Rex no. 1 has the open reservation {order.id} ." in asked
    assert "Bo no. 2 is Adopted already." in asked
    assert "1 has been removed meanwhile." in asked
    assert statuses(project) == ["pending", "sold", "available"]


def test_the_box_above_the_rows_stands_for_all_of_the_page(
    browser: Browser, three: list[int]
):
    listed = browser.get(f"{ANIMALS}?limit=2").text
    [box] = re.findall('name="tick.all" value="([^"]*)"', listed)
    assert box == "3 2"
    asked = browser.follow(MANY, **{WHAT: "remove", "tick.all": box})
    assert "Remove 2 animals?" in asked


def test_nothing_happens_without_a_ticked_animal_or_a_change(
    browser: Browser, project: Project, three: list[int]
):
    for fields in (
        {WHAT: SOLD},
        {WHAT: "status.gone", **ticks(three)},
        {WHAT: "status.sold", **ticks([*range(1, 102)])},
        ticks(three),
    ):
        said = browser.follow(MANY, **fields)
        assert "Tick animals first, and choose what happens to them." in said
    refused = browser.submit(MANY, **ticks(three[:2]))
    assert browser.get(refused.location).text.count(" checked>") == 2
    assert "There is no category 9." in browser.follow(
        f"{MANY}/change", **{WHAT: "category.9"}, **ticks(three)
    )
    assert statuses(project) == ["available"] * 3


@of_both_engines
def test_what_was_written_since_is_not_taken_back(
    browser: Browser, project: Project, three: list[int]
):
    page = answer(browser, SOLD, three)
    Pet.correct(project.id, three[0], name="Max")
    Pet.correct(project.id, three[1], status="available")
    Order.place(project.id, three[1])
    said = take_back(browser, page)
    assert "Changed 1 animal back." in said
    assert "Reserved, changed or removed meanwhile, and therefore left: 2." in said
    assert statuses(project) == ["sold", "pending", "available"]


def test_a_form_counts_for_each_twenty_animals(browser: Browser, project: Project):
    pets = [add_pet(project, "Rex") for _ in range(PART + 1)]
    answer(browser, SOLD, pets[:PART])  # the question is a form, too
    assert "2 of 1,000 forms" in browser.read("/dashboard/usage")
    answer(browser, "remove", pets)
    assert "5 of 1,000 forms" in browser.read("/dashboard/usage")
