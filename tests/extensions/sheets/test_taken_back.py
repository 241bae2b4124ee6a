"""An import is taken back for a day: what it added goes, what is used since stays."""

import re

import pytest

from petstore.extensions.sheets.imports import foresee
from petstore.extensions.sheets.models import Import
from petstore.extensions.sheets.storing import store
from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.upkeep import housekeeping
from tests.harness.browser import IMPORT, Browser, add_pet
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

HEAD = "name,category\n"
UNDO = re.compile('action="([^"]*/take-back)"')


def names(project: Project) -> list[str]:
    return [pet.name for pet in Pet.page(project.id, after=0, limit=1_000)]


def added(project: Project, *names: str, category: str = "Cats") -> Import:
    """Import animals of these names."""
    lines = "".join(f"{name},{category}\n" for name in names)
    done = store(project, foresee(project, f"{HEAD}{lines}".encode()))
    return Import.get_recent(project.id, done.import_id)


def taken_back(record: Import) -> Import:
    record.take_back()
    return Import.get_recent(record.project_id, record.id)


@of_both_engines
def test_animals_that_are_as_the_import_left_them_go(project: Project, rival: Project):
    before = add_pet(project, "Before")
    record = added(project, "Rex", "Tom", "Bo", "Luna", "Max")
    others = [add_pet(rival, "Rival"), add_pet(project, "After")]
    rex, tom, *_ = range(record.first_id, record.last_id)
    Pet.correct(project.id, rex, name="Rexy")
    order = Order.place(project.id, tom)
    Order.change(project.id, order.id, status="cancelled")
    done = taken_back(record)
    assert (done.added, done.removed, done.count_left()) == (5, 3, 2)
    assert names(project) == ["Before", "Rexy", "Tom", "After"]
    assert before < rex
    assert names(rival) == ["Rival"]
    assert Pet.find_own(rival.id, others[0])
    assert taken_back(record).removed == 3
    # The animals, a category of three of them, another one, and an order.
    assert Project.get_by_id(project.id).rows_held == 4 + 2 + 1


@of_both_engines
def test_new_categories_go_if_they_are_empty(project: Project):
    Category.rename(project.id, 3, "Dogs")
    record = added(project, "Rex", "Tom", category="Mice")
    used = added(project, "Bo", category="Birds")
    add_pet(project, "Own", Pet.get_own(project.id, used.first_id).category_id)
    for each in (record, used):
        taken_back(each)
    kept = [row.name for row in Category.page(project.id, after=0, limit=9)]
    assert kept == ["Dogs", "Birds"]
    assert Project.get_by_id(project.id).rows_held == 3


@of_both_engines
def test_notice_of_an_import_takes_it_back(browser: Browser, project: Project):
    browser.import_file(HEAD + "Rex,Cats\nTom,Cats\n")
    page = browser.get("/dashboard/animals").text
    [undo] = UNDO.findall(page)
    Pet.correct(project.id, 1, status="sold")
    answers = [browser.submit(undo, idempotency_key="x") for _ in range(2)]
    assert {answer.location for answer in answers} == {"/dashboard/animals"}
    told = "Removed 1 of 2 imported animals. Changed or reserved since, and therefore"
    assert told in browser.read("/dashboard/animals")
    assert names(project) == ["Rex"]
    assert "2 added, 1 removed again" in browser.read(IMPORT)


def test_imports_can_be_taken_back_for_a_day_by_their_project_alone(
    app: object, browser: Browser, project: Project, rival: Project, clock: Clock
):
    added(rival, "Spot")
    added(project, "Rex")
    [undo] = UNDO.findall(browser.get(IMPORT).text)
    theirs = undo.replace(str(Import.recent(project.id)[0].id), "1")
    assert browser.submit(theirs).status_code == 404
    clock.move(seconds=86_399)
    housekeeping.delete_outdated()
    assert Import.recent(project.id)
    clock.move(seconds=2)
    assert not Import.recent(project.id)
    housekeeping.delete_outdated()
    assert not Import.select().exists()
    assert names(rival) == ["Spot"]


def test_import_that_only_corrects_is_not_listed(browser: Browser, project: Project):
    add_pet(project, "Rex")
    question = browser.upload("id,name\n1,Max\n").location
    browser.submit(question, id="id", again="yes")
    browser.answer(question)
    assert names(project) == ["Max"]
    assert not Import.select().exists()


def test_large_import_goes_in_parts(
    project: Project, set_limits: pytest.FixtureRequest
):
    set_limits(deleted_rows=2)
    record = added(project, *"abcde")
    assert record.remove_some(record.first_id - 1) == record.first_id + 1
    assert names(project) == ["c", "d", "e"]
    assert taken_back(record).count_left() == 0
