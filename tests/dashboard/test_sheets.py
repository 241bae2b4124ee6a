"""Animals and orders as files: downloaded whole, and imported whole or not at all."""

import io
from collections.abc import Callable

import pytest
from werkzeug.test import TestResponse

from petstore.models.activity import Activity
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from petstore.sheets.imports import Sheet
from petstore.storage.database import db
from tests.harness.browser import Browser, add_pet, words
from tests.harness.databases import of_one_engine

ANIMALS, ORDERS = "/dashboard/animals", "/dashboard/orders"
IMPORT = f"{ANIMALS}/import"
FORM = 'action="/dashboard/animals/import" enctype="multipart/form-data"'
HEAD = "name,category\n"

Upload = Callable[..., TestResponse]


@pytest.fixture
def upload(browser: Browser) -> Upload:
    """A function that submits the form with a file of the text, or of the bytes."""

    def upload(content: str | bytes) -> TestResponse:
        data = content.encode() if isinstance(content, str) else content
        return browser.submit(IMPORT, file=(io.BytesIO(data), "x.csv"))

    return upload


def names(project: Project) -> list[str]:
    return [pet.name for pet in Pet.page(project.id, after=0, limit=100)]


def test_all_animals_are_downloaded(browser: Browser, project: Project, rival: Project):
    for shop, name in ((project, "Rex"), (project, "=1"), (rival, "Spot")):
        add_pet(shop, name)
    assert 'href="/dashboard/animals.csv"' in browser.get(ANIMALS).text
    answer = browser.get("/dashboard/animals.csv")
    assert answer.content_type == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == (
        'attachment; filename="animals-shelter.csv"'
    )
    assert answer.get_data(as_text=True).splitlines() == [
        "id,name,categoryId,category,status",
        "1,Rex,7,,available",
        "2,'=1,7,,available",
    ]


def test_all_orders_are_downloaded(browser: Browser, project: Project):
    pet_id = add_pet(project, "@Rex")
    Order.change(
        project.id,
        Order.place(project.id, pet_id, "-Mrs. Smith").id,
        status="completed",
    )
    Order.place(project.id, add_pet(project, "Tom"))
    assert 'href="/dashboard/orders.csv"' in browser.get(ORDERS).text
    instants = ",2027-03-17T12:00:10.000Z" * 2
    assert browser.get("/dashboard/orders.csv").text.splitlines() == [
        "id,petId,pet,status,reference,createdAt,updatedAt",
        f"1,1,'@Rex,completed,'-Mrs. Smith{instants}",
        f"2,2,Tom,placed,{instants}",
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


def test_animals_of_a_file_are_added(
    browser: Browser, upload: Upload, project: Project
):
    assert FORM in browser.get(ANIMALS).text
    answer = upload(HEAD + "Rex,Dogs\nTom,Cats\n")
    assert (answer.status_code, answer.location) == (303, ANIMALS)
    assert "2 animals are added." in browser.read(ANIMALS)
    assert names(project) == ["Rex", "Tom"]
    event = Activity.get(Activity.name == "animals_imported")
    assert event.actor.startswith("pet_")
    assert "Animals imported 2 animals" in browser.read("/dashboard/activity")


def test_file_is_read_before_the_transaction_begins(
    upload: Upload, project: Project, monkeypatch: pytest.MonkeyPatch
):
    load, is_writing = Sheet._load, []
    monkeypatch.setattr(
        Sheet,
        "_load",
        lambda *line: is_writing.append(db.in_transaction()) or load(*line),
    )
    upload(HEAD + "Rex,Dogs\n")
    assert names(project) == ["Rex"]
    assert is_writing == [False]


def test_each_line_at_fault_is_shown(upload: Upload, project: Project):
    answer = upload(HEAD + "Rex,Dogs\n" + ",Dogs\n" * 30)
    assert answer.status_code == 400
    for line in range(3, 33):
        assert f"Line {line}: name: is required" in words(answer)
    assert "Nothing was added" in words(answer)
    assert FORM in answer.text
    assert names(project) == []


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", "Choose a file that is not empty."),
        ("a,b\n", "Line 1: there is no column name."),
        (b"name,category\nR\xff,7\n", "The file is not UTF-8 in line 2."),
        (HEAD + "x" * 60 * 1024, "The file has more than 60 KiB."),
    ],
)
@of_one_engine
def test_what_is_no_list_of_animals_is_refused(
    upload: Upload, content: str | bytes, fault: str
):
    answer = upload(content)
    assert answer.status_code == 400
    assert fault in words(answer)


@of_one_engine
def test_file_that_exceeds_a_form_is_refused(upload: Upload):
    answer = upload("x" * 70_000)
    assert answer.status_code == 413
    assert "a file in it at most 60 KiB" in words(answer)


@of_one_engine
def test_form_without_a_file_is_refused(browser: Browser):
    assert browser.submit(IMPORT).status_code == 400


@of_one_engine
def test_form_of_too_many_parts_is_refused(browser: Browser):
    parts, kind = {f"part{n}": "x" for n in range(21)}, "multipart/form-data"
    answer = browser.client.post(IMPORT, data=parts, content_type=kind)
    assert answer.status_code == 413


def test_file_that_does_not_fit_is_refused(upload: Upload, project: Project):
    project.change_plan(Plan("enterprise", 99, 99, 2))
    answer = upload(HEAD + "Rex,Dogs\nTom,Dogs\nMimi,Dogs\n")
    assert answer.status_code == 400
    assert "has room for 2, but the file adds 3" in words(answer)
    assert "The project is full" in words(upload(HEAD + "Rex,Dogs\nTom,Dogs\n"))
    assert names(project) == []


@of_one_engine
@pytest.mark.parametrize("path", ["animals.csv", "orders.csv", "animals/import"])
def test_files_are_for_members_alone(app: object, path: str):
    answer = Browser(app).get(f"/dashboard/{path}")
    assert answer.status_code == 303
    assert "sign-in" in answer.location
