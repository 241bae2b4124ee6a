"""/dashboard/animals: filters, search, and adding an animal."""

import re

import pytest
from flask.testing import FlaskClient

from petstore.models.categories import Category
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet, words
from tests.harness.databases import of_both_engines

ANIMALS = "/dashboard/animals"
REX = {"name": "Rex", "categoryId": "7", "status": "available"}


@pytest.fixture
def animals(project: Project) -> None:
    """45 animals in three categories; every third animal is sold."""
    for n in range(45):
        add_pet(project, f"Pet {n}.", n % 3, "available" if n % 3 else "sold")


def names(browser: Browser, path: str) -> list[str]:
    """Return the names on a page of a list and on all that follow."""
    shown = []
    while path:
        page = browser.get(f"{ANIMALS}{path}")
        shown += re.findall(r"<bdi>(\w+(?: \d+)?)\.?</bdi></a></th>", page.text)
        [following] = re.findall('href="([^"]+)" rel="next"', page.text) or [""]
        path = following.removeprefix(ANIMALS).replace("&amp;", "&")
    return shown


@of_both_engines
@pytest.mark.usefixtures("animals")
def test_filters_are_kept_and_have_counts(
    browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("petstore.extensions.dashboard.pets.OFFERED_CATEGORIES", 1)
    path = "?status=sold&category=0&name=pET&limit=10"
    assert names(browser, path) == [f"Pet {n}" for n in range(42, -1, -3)]
    page = browser.get(f"{ANIMALS}{path}")
    assert "15 animals found" in words(page)
    assert "Shown: Adopted · Category 0 · pET Show all" in words(page)
    assert 'href="/dashboard/animals">Show all</a>' in page.text
    assert 'value="pET"' in page.text
    page = browser.get(f"{ANIMALS}?category=1")
    assert "All Available 15 Reserved 0 Adopted 0 Name or number" in words(page)
    assert '<option value="1" selected>Category 1</option>' in page.text
    assert "Available 30 Reserved 0 Adopted 15" in browser.read(ANIMALS)
    add_pet(project, "Älf", 2)
    shown = names(browser, "?sort=name&category=2&limit=5")
    assert shown == sorted(shown, key=lambda name: name.replace("Älf", "Alf"))
    assert len(shown) == 16


@of_both_engines
def test_animal_is_added_and_form_stays_open(browser: Browser, client: FlaskClient):
    closed, opened = (f'<details class="adding"{end}' for end in (">", " open>"))
    assert closed in browser.get(ANIMALS).text
    page = browser.get(browser.submit(ANIMALS, **REX | {"category": "Dogs"}).location)
    assert "Added Rex (no. 1). The category Dogs is new." in words(page)
    [rex] = client.get("/v1/pets").json
    assert (rex["name"], rex["categoryId"], rex["status"]) == ("Rex", 1, "available")
    assert opened in page.text
    [name] = re.findall('<input id="name"[^>]*>', page.text)
    assert "autofocus" in name
    assert 'value=""' in name
    assert '<option value="1" selected>Dogs</option>' in page.text
    assert closed in browser.get(ANIMALS).text


@of_both_engines
def test_a_name_like_that_of_a_category_is_asked_about(
    browser: Browser, project: Project
):
    Category.rename(project.id, 1, "Hunde")
    Category.rename(project.id, 2, "Katzen")
    for typed in ("Hund", "HÜNDE", "hun de", "Hundes", "Hunte", "Katze"):
        asked = browser.submit(ANIMALS, name="Rex", category=typed)
        assert "There is the category" in words(asked)
        assert f"Add the category {typed}" in words(asked)
    for typed in ("Hun", "Kater", "Vögel"):
        said = browser.follow(ANIMALS, name="Rex", category=typed)
        assert f"The category {typed} is new." in said
    answer = {"name": "Rex", "category": "Hund", "asked": "Hund"}
    browser.submit(ANIMALS, **answer, like="1")
    assert "category Hund is new" in browser.follow(ANIMALS, **answer, like="new")
    # Who types something else answers no question.
    answer["category"] = "Katze"
    assert browser.submit(ANIMALS, **answer, like="new").status_code == 400
    shown = [pet.category_id for pet in Pet.page(project.id, after=0, limit=9)]
    assert shown == [3, 4, 5, 1, 6]


def test_wrong_field_is_shown_with_its_fault(browser: Browser, project: Project):
    for field, text, fault in (
        ("name", " ", "Name is required."),
        ("name", "x" * 201, "Name must have 1 to 200 characters."),
        ("categoryId", "", "Category is required."),
        ("status", "lost", "Status must be one of available, pending, sold."),
        ("id", "5", ""),
    ):
        answer = browser.submit(ANIMALS, **REX | {field: text})
        assert answer.status_code == 400
        assert fault in words(answer)
        assert 'value="Rex"' in answer.text or field == "name"
        # So that going back shows it.
        assert answer.headers["Cache-Control"] == "private, no-cache"
    assert not Pet.page(project.id, after=0, limit=1)
