"""Animals and orders as files: downloaded whole, and imported whole or not at all."""

import gc
import re
from collections.abc import Callable

import pytest
from werkzeug.test import TestResponse

from petstore.extensions.dashboard.models import Upload, seen
from petstore.extensions.sheets import pages, storing
from petstore.extensions.sheets.imports import Preview, Sheet
from petstore.extensions.sheets.lines import Table
from petstore.models.activity import Event
from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from petstore.upkeep import housekeeping
from tests.harness.browser import IMPORT, Browser, add_pet, shown_choices, words
from tests.harness.clocks import Clock

ANIMALS, ORDERS = "/dashboard/animals", "/dashboard/orders"
FORM = 'action="/dashboard/animals/import" enctype="multipart/form-data"'
HEAD = "name,category\n"
FOCUSED = re.compile('name="([^"]+)"[^>]* autofocus')
MARK = "\ufeff"  # by which spreadsheets know UTF-8

Asked = Callable[..., TestResponse]


@pytest.fixture
def asked(browser: Browser) -> Asked:
    """A function that chooses a file, and returns the page that asks or refuses."""

    def asked(content: str | bytes) -> TestResponse:
        answer = browser.upload(content)
        return browser.get(answer.location) if answer.location else answer

    return asked


def names(project: Project) -> list[str]:
    return [pet.name for pet in Pet.page(project.id, after=0, limit=100)]


def test_everything_is_downloaded(browser: Browser, project: Project, rival: Project):
    add_pet(rival, "Spot")
    for name in ("Rex", "=1"):
        Order.place(project.id, add_pet(project, name), f"-{name}")
    Order.change(project.id, 1, status="completed")
    Category.rename(project.id, 7, 'Dogs, "old"')
    assert 'href="/dashboard/animals.csv"' in browser.get(ANIMALS).text
    assert 'href="/dashboard/orders.csv"' in browser.get(ORDERS).text
    answer = browser.get("/dashboard/animals.csv")
    assert answer.content_type == "text/csv; charset=utf-8"
    disposition = answer.headers["Content-Disposition"]
    assert disposition == 'attachment; filename="animals-shelter.csv"'
    assert answer.text.splitlines() == [
        f"{MARK}id,name,categoryId,category,status",
        '2,Rex,7,"Dogs, ""old""",sold',
        '3,\'=1,7,"Dogs, ""old""",pending',
    ]
    instants = ",2027-03-17T12:00:10.000Z" * 2
    assert browser.get("/dashboard/orders.csv").text.splitlines() == [
        f"{MARK}id,petId,pet,status,reference,createdAt,updatedAt",
        f"1,2,Rex,completed,'-Rex{instants}",
        f"2,3,'=1,placed,'-=1{instants}",
    ]


def test_download_is_read_as_it_is_sent(
    browser: Browser, project: Project, set_limits: Callable, monkeypatch: object
):
    set_limits(exported_rows=2)
    for name in "abcdef":
        add_pet(project, name)
    read, page = [], Pet.page
    monkeypatch.setattr(Pet, "page", lambda *a, **b: read.append(b) or page(*a, **b))
    answer = browser.client.get("/dashboard/animals.csv", buffered=False)
    assert len(read) == 1
    assert len(answer.get_data().splitlines()) == 7
    assert [each["after"] for each in read] == [-1, 2, 4, 6]


def test_page_says_what_file_would_do(browser: Browser, asked: Asked, project: Project):
    add_pet(project, "Rex")
    assert 'href="/dashboard/animals/import"' in browser.get(ANIMALS).text
    page = asked("id,name,category\n1,Rex,Cats\n,Tom,Cats\n,Bo,Cats\n")
    told = "2 animals would be added. 1 animal would be corrected. New categories: Cats"
    assert told in words(page)
    assert "Rex 1 Category 7 → Cats Available" in words(page)
    assert "Tom new Cats Available" in words(page)
    assert names(project) == ["Rex"]
    assert Pet.get_own(project.id, 1).name == "Rex"


def test_first_and_last_animals_are_shown(browser: Browser, project: Project):
    Category.rename(project.id, 7, "Hunde")
    lines = "".join(f"Animal {number},Hund\n" for number in range(2, 100))
    page = browser.read(browser.upload(HEAD + lines + "Rex,\n").location)
    assert "New categories: Hund ( there is Hunde already )." in page
    assert (
        "Animal 16 new Hund Available 16 The last ones of the file: Animal 95" in page
    )
    assert "Animal 99 new Hund Available 99" in page
    assert "Animal 17 new" not in page
    assert "Line 100: category is required" in page


def test_only_the_page_about_a_file_has_64_fields(browser: Browser):
    question = browser.upload(HEAD + "Rex,Dogs\n").location
    fields = {f"status.{number}": "sold" for number in range(63)}  # and a key
    assert browser.submit(question, **fields).location == question
    assert browser.submit(question, **fields, more="x").status_code == 400
    assert browser.submit(ANIMALS, **fields).status_code == 400


def test_page_about_a_file_leaves_nothing_of_it_to_the_collector(
    browser: Browser, request: pytest.FixtureRequest
):
    question = browser.upload(HEAD + "Rex,Dogs\n").location
    gc.collect()
    request.addfinalizer(gc.enable)
    gc.disable()
    assert "Rex" in browser.get(question).text
    kept = {type(each) for each in gc.get_objects()}
    assert not kept & {Preview, Sheet, Table}


def test_any_number_of_answers_imports_once(browser: Browser, project: Project):
    add_pet(project, "Rex")
    question = browser.upload("id,name,category\n1,Max,\n,Tom,Cats\n").location
    shown = shown_choices(browser.answer(question, id="id").text)
    answers = [browser.submit(question, **shown, idempotency_key="x") for _ in range(2)]
    assert [answer.location for answer in answers] == [ANIMALS] * 2
    assert "Added 1 animal, corrected 1." in browser.read(ANIMALS)
    again = browser.get(browser.answer(question).location)
    assert "The file does not wait any more." in browser.read(again.location)
    assert names(project) == ["Max", "Tom"]
    event = Event.get(Event.name == "animals_imported")
    assert event.actor.startswith("pet_")
    activity = "/dashboard/activity"
    assert "Animals imported 1 animal, 1 corrected" in browser.read(activity)
    changes = browser.read(f"{activity}?topic=shelter")
    assert changes.count("Added 1 animal, corrected 1.") == 1


def test_file_waits_for_an_hour_for_its_session_alone_until_the_next(
    app: object, browser: Browser, key: str, project: Project, clock: Clock
):
    first, question = (browser.upload(HEAD + f"{n},Dogs\n").location for n in "ab")
    assert browser.get(first).location == IMPORT
    assert Browser(app, key).get(question).location == IMPORT
    clock.move(seconds=3_599)
    housekeeping.delete_outdated()
    assert browser.get(question).status_code == 200
    seen.flush()
    clock.move(seconds=2)
    housekeeping.delete_outdated()
    assert browser.get(question).location == IMPORT
    browser.upload(HEAD + "Rex,Dogs\n")
    browser.submit("/dashboard/sign-out")
    assert not Upload.select().exists()
    assert names(project) == []


def test_first_lines_at_fault_are_shown(asked: Asked, project: Project):
    page = asked(HEAD + "Rex,Dogs\n" + ",Dogs\n" * 30)
    for line in range(3, 23):
        assert f"Line {line}: name is required" in words(page)
    assert "required And 10 more lines need a correction." in words(page)
    assert FORM in page.text
    assert "Import the file" not in page.text
    assert names(project) == []


def test_answer_stores_what_the_page_showed_or_shows_it_again(
    browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch
):
    rex, tom = (add_pet(project, name) for name in ("Rex", "Tom"))
    file = f"id,name,status\n{rex},Max,available\n{tom},Tom,available\n"
    question = browser.upload(file).location
    shown = shown_choices(browser.answer(question, id="id").text)
    Pet.correct(project.id, tom, status="sold")
    page = browser.choose(question, **shown)
    assert "Nothing is imported yet" in words(page)
    assert "Tom 2 Category 7 Adopted → Available" in words(page)
    assert names(project) == ["Rex", "Tom"]
    take = storing.take_rows

    def take_late(*rows: int) -> None:  # after somebody else has changed it again
        monkeypatch.setattr(storing, "take_rows", take)
        Pet.correct(project.id, tom, name="Tommy")
        take(*rows)

    monkeypatch.setattr(storing, "take_rows", take_late)
    answer = browser.submit(question, **shown_choices(page.text))
    assert "the animals have changed" in browser.read(answer.location)
    assert names(project) == ["Rex", "Tom"]


def test_line_that_has_become_wrong_stops_import(browser: Browser, project: Project):
    pet_id = add_pet(project, "Rex")
    question = browser.upload(f"id,status\n{pet_id},sold\n").location
    order = Order.place(project.id, pet_id)
    answer = browser.answer(question)
    told = f"Line 2: status cannot change before the order {order.id} is completed"
    assert told in words(answer)
    assert Pet.get_own(project.id, pet_id).status == "pending"


def test_what_is_no_list_of_animals_is_refused(browser: Browser, asked: Asked):
    for content, fault in (
        ("", "Choose a file that is not empty."),
        (b"PK\x03\x04xl/workbook.xml", "The file is an Excel workbook. Open it in a"),
    ):
        assert fault in words(asked(content))
    assert browser.submit(IMPORT).status_code == 400  # without a file
    parts, kind = {f"part{n}": "x" for n in range(21)}, "multipart/form-data"
    answer = browser.client.post(IMPORT, data=parts, content_type=kind)
    assert answer.status_code == 413


def test_file_costs_as_much_as_ten_pages(browser: Browser, project: Project, key: str):
    assert browser.get(IMPORT).status_code == 200  # costs one
    question = browser.upload(HEAD + "Rex,Dogs\n").location
    dear = (ANIMALS + ".csv", ORDERS + ".csv", question, ANIMALS + "?whole=1")
    for path in dear * 2 + dear[:2]:
        assert browser.get(path).status_code == 200
    assert {browser.get(path).status_code for path in dear} == {429}
    assert browser.upload(HEAD + "Tom,Dogs\n").status_code == 429
    assert browser.get(IMPORT).status_code == 200


@pytest.mark.parametrize(("size", "looks"), [(0, 109), (2_500, 36), (99_000, 10)])
def test_another_look_costs_by_the_size_of_the_file_and_ten_pages_at_most(
    browser: Browser, size: int, looks: int, monkeypatch: pytest.MonkeyPatch
):
    assert pages.PAGE_BYTES == 256 * 1024
    monkeypatch.setattr(pages, "PAGE_BYTES", 1_000)
    question = browser.upload(HEAD + "Rex,Dogs\n" + " " * size).location
    browser.submit(question, again="yes", name="name")
    for _ in range(looks):  # of the 120 pages of the minute, eleven were used before
        assert browser.get(question).status_code == 200
    assert browser.get(question).status_code == 429


def test_project_without_room_leads_back_to_the_form(
    browser: Browser, project: Project
):
    project.change_plan(Plan("enterprise", 99, 99, 2))
    question = browser.upload(HEAD + "Rex,Dogs\nTom,Dogs\n").location
    page = browser.get(question)
    told = "The project has room for 2 animals and categories, but the file adds 3"
    assert told in words(page)
    assert FORM in page.text
    browser.submit(question, **shown_choices(page.text))
    assert names(project) == []
    shown = browser.answer(question, leave_out="3")
    browser.submit(question, **shown_choices(shown.text))
    assert names(project) == ["Rex"]


def test_choice_shows_the_page_again_and_nothing_is_stored_that_it_did_not_show(
    browser: Browser, project: Project
):
    question = browser.upload("Who,Kind\nRex,Dogs\n").location
    page = browser.get(question)
    assert "Choose what is the name: Who" in words(page)
    assert "Import the file" not in page.text
    shown = shown_choices(page.text)
    again = browser.choose(question, **(shown | {"name": "Who"}))
    assert "Rex new Dogs Available" in words(again)
    other = shown_choices(again.text) | {"name": "Kind"}
    assert "Dogs new Dogs Available" in words(browser.choose(question, **other))
    browser.submit(question, **shown)  # with a question that is open
    assert names(project) == []
    assert browser.submit(question, **shown_choices(again.text)).location == ANIMALS
    assert names(project) == ["Rex"]


def test_foreign_numbers_are_asked_about(browser: Browser, project: Project):
    for name in ("Rex", "Tom"):
        add_pet(project, name)
    question = browser.upload("id,name,category\n1,Luna,Cats\n2,Tom,Cats\n").location
    told = "2 of 2 numbers are animals here, 1 of them with that name: correct them, or"
    assert told in browser.read(question)
    corrected = browser.answer(question, id="id")
    assert "Rex → Luna 1 Category 7 → Cats" in words(corrected)
    added = browser.answer(question, id="")
    assert browser.submit(question, **shown_choices(added.text)).location == ANIMALS
    assert names(project) == ["Rex", "Tom", "Luna", "Tom"]


def test_statuses_of_another_system_are_explained(browser: Browser, project: Project):
    lines = "Rex,Dogs,Adopted\nTom,Dogs,Dead\nBo,Dogs,Rented\n"
    question = browser.upload(HEAD[:-1] + ",Outcome\n" + lines).location
    page = browser.get(question)
    assert "Choose what each status means: Dead, Rented" in words(page)
    assert shown_choices(page.text)["status.adopted"] == "sold"  # which is usual
    assert FOCUSED.findall(page.text) == ["status.dead"]
    page = browser.answer(question, **{"status.dead": "out"})
    assert FOCUSED.findall(page.text) == ["status.rented"]
    page = browser.answer(question, **{"status.rented": "pending"})
    assert "Rex new Dogs Adopted" in words(page)
    assert "Left out, because of their status: 1." in words(page)
    browser.submit(question, **shown_choices(page.text))
    pets = Pet.page(project.id, after=0, limit=9)
    assert [(pet.name, pet.status) for pet in pets] == [
        ("Rex", "sold"),
        ("Bo", "pending"),
    ]


def test_lines_in_another_encoding_stand_beside_its_choice(browser: Browser):
    question = browser.upload((HEAD + "Żuk,Psy\n").encode("cp1250")).location
    assert "¯uk,Psy" in browser.read(question)
    assert "Żuk new Psy" in words(browser.answer(question, encoding="Windows-1250"))


def test_file_that_changes_nothing_asks_nothing(browser: Browser, project: Project):
    add_pet(project, " Rex")
    for separator in (",", ";"):
        file = browser.get(f"/dashboard/animals.csv?separator={separator}")
        page = browser.get(browser.upload(file.data).location)
        assert f"id{separator}name" in file.text
        assert "There is nothing to change" in words(page)
        assert "Import the file" not in page.text
