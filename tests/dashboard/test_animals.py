"""/dashboard/animals: filters, search, and adding an animal."""

import re

import pytest
from flask.testing import FlaskClient

from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.storage import lists
from tests.harness.browser import Browser, add_pet, words
from tests.harness.databases import of_both_engines

ANIMALS = "/dashboard/animals"
REX = {"name": "Rex", "categoryId": "7", "status": "available"}


@pytest.fixture
def animals(project: Project) -> None:
    """45 animals in three categories; every third animal is sold."""
    for n in range(45):
        add_pet(project, f"Pet {n}.", n % 3, "available" if n % 3 else "sold")


@of_both_engines
@pytest.mark.usefixtures("animals")
def test_filters_are_kept_on_every_page(browser: Browser):
    path, shown = f"{ANIMALS}?status=sold&category=0&name=pET&limit=10", []
    for _ in range(2):
        page = browser.get(path)
        shown += map(int, re.findall(r"<bdi>Pet (\d+)\.", page.text))
        assert "15 animals found" in words(page)
        assert 'value="pET"' in page.text
        [path] = re.findall('href="([^"]+)" rel="next"', page.text) or [""]
        path = path.replace("&amp;", "&")
    assert shown == list(range(42, -1, -3))


def test_an_empty_list_leads_to_the_form(browser: Browser):
    page = browser.read(ANIMALS)
    assert "There are no animals yet Add the first one above." in page


def test_a_search_without_a_result_leads_back_to_all(browser: Browser):
    page = browser.read(f"{ANIMALS}?name=Rex&category=&status=")
    assert "No animal matches Show all" in page


@pytest.mark.usefixtures("animals")
def test_a_search_of_more_animals_than_it_sees_says_so(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
):
    assert "45 animals found Add" in browser.read(f"{ANIMALS}?name=pet")
    monkeypatch.setattr(lists, "MAX_COUNTED", 44)
    page = browser.read(f"{ANIMALS}?name=pet")
    assert "44 animals found among the newest 10,000, which alone are searched" in page


@pytest.mark.usefixtures("animals")
def test_category_is_shown_by_name_or_else_by_number(
    browser: Browser, client: FlaskClient
):
    client.put("/v1/categories/1", json={"name": "Dogs"})
    text = browser.read(f"{ANIMALS}?last=1")
    assert "Pet 1. Dogs Available" in text
    assert "Pet 2. Category 2 Available" in text


def test_a_chosen_category_is_offered_though_it_is_not_among_the_first(
    browser: Browser, project: Project
):
    for number in range(101):
        add_pet(project, f"Pet {number}.", number)
    page = browser.get(f"{ANIMALS}?category=100").text
    assert '<option value="100" selected>Category 100</option>' in page


@pytest.mark.parametrize(
    "query", ["category=dogs", "name=%00", "name=%ff", f"name={'x' * 201}"]
)
def test_invalid_search_gets_an_error_page(browser: Browser, query: str):
    answer = browser.get(f"{ANIMALS}?{query}")
    assert answer.status_code == 400
    assert "Invalid link" in answer.text


@of_both_engines
def test_an_animal_is_added_as_over_the_api(browser: Browser, client: FlaskClient):
    assert "Rex is added, with the id 1." in browser.follow(ANIMALS, **REX)
    assert client.get("/v1/pets").json == [
        {"id": 1, "name": "Rex", "categoryId": 7, "status": "available"}
    ]


@pytest.mark.parametrize(
    ("field", "text", "fault"),
    [
        ("name", " ", "Name is required."),
        ("name", "x" * 201, "Name must have 1 to 200 characters."),
        ("name", "a\x7fb", "Name must not be blank and must not contain control"),
        ("categoryId", "", "Category is required."),
        ("categoryId", "9" * 40, "Category must be an integer from 0 to"),
        ("status", "lost", "Status must be one of available, pending, sold."),
        ("id", "5", ""),
    ],
)
def test_a_wrong_field_is_shown_with_its_fault_and_nothing_is_added(
    browser: Browser, project: Project, field: str, text: str, fault: str
):
    answer = browser.submit(ANIMALS, **REX | {field: text})
    assert answer.status_code == 400
    assert fault in words(answer)
    assert 'value="Rex"' in answer.text or field == "name"
    assert answer.headers["Cache-Control"] == "private, no-cache"  # going back shows it
    assert not Pet.page(project.id, after=0, limit=1)


@of_both_engines
@pytest.mark.usefixtures("animals")
def test_filters_have_counts_and_names_an_order(browser: Browser, project: Project):
    page = browser.read(f"{ANIMALS}?category=1")
    assert "All Available 15 Pending 0 Sold 0 Newest By name" in page
    assert "Available 30 Pending 0 Sold 15" in browser.read(ANIMALS)
    add_pet(project, "Älf", 2)
    path, shown = f"{ANIMALS}?sort=name&category=2&limit=5", []
    while path:
        page = browser.get(path)
        shown += re.findall(r"<bdi>(\w+ ?\d*)\.?</bdi></a></th>", page.text)
        [path] = re.findall('href="([^"]+)" rel="next"', page.text) or [""]
        path = path.replace("&amp;", "&")
    assert shown == sorted(shown, key=lambda name: name.replace("Älf", "Alf"))
    assert len(shown) == 16


def test_a_category_is_named_or_gets_the_next_free_number(
    browser: Browser, client: FlaskClient
):
    client.put("/v1/categories/7", json={"name": "Dogs"})
    for category in ("DOGS", " Cats ", "cats", "12", "#12", "category 12", "dogs #7"):
        browser.submit(ANIMALS, **REX | {"categoryId": category})
    pets = client.get("/v1/pets").json
    assert [pet["categoryId"] for pet in pets] == [7, 8, 8, 12, 12, 12, 7]
    assert client.get("/v1/categories").json == [
        {"id": 7, "name": "Dogs"},
        {"id": 8, "name": "Cats"},
        {"id": 12, "name": None},
    ]


def test_categories_of_one_name_show_their_numbers(
    browser: Browser, client: FlaskClient
):
    for number in (7, 9):
        client.put(f"/v1/categories/{number}", json={"name": "Dogs"})
    answer = browser.submit(ANIMALS, **REX | {"categoryId": "Dogs"})
    assert answer.status_code == 400
    fault = "Category is the name of two categories: choose Dogs #7 or Dogs #9."
    assert fault in words(answer)
    browser.submit(ANIMALS, **REX | {"categoryId": "Dogs #9"})
    page = browser.get(ANIMALS)
    assert "Rex Dogs #9 Available" in words(page)
    assert '<option value="Dogs #7"></option>' in page.text


def test_a_category_whose_name_another_project_has_too_shows_no_number(
    browser: Browser, client: FlaskClient, rival_client: FlaskClient
):
    for number, name in ((7, "Dogs"), (9, "Cats")):
        client.put(f"/v1/categories/{number}", json={"name": name})
    rival_client.put("/v1/categories/8", json={"name": "Dogs"})
    browser.submit(ANIMALS, **REX | {"categoryId": "Dogs"})
    assert "Rex Dogs Available" in words(browser.get(ANIMALS))


def test_the_form_stays_open_for_an_animal_of_the_same_category(browser: Browser):
    assert '<details class="card adding">' in browser.get(ANIMALS).text
    page = browser.get(browser.submit(ANIMALS, **REX | {"categoryId": "Dogs"}).location)
    assert '<details class="card adding" open>' in page.text
    [name] = re.findall('<input id="name"[^>]*>', page.text)
    assert "autofocus" in name
    assert 'value=""' in name
    assert '<input id="categoryId" name="categoryId" type="text"\n    value="Dogs"' in (
        page.text
    )
    assert '<details class="card adding">' in browser.get(ANIMALS).text
