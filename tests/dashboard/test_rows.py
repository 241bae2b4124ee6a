"""How many animals, orders and categories a project holds, of how many it may."""

import pytest
from flask import Flask

from petstore.models.categories import CategoryTable
from petstore.models.pets import PetTable
from petstore.models.projects import Plan, Project
from tests.harness.browser import Browser, add_pet, words
from tests.harness.databases import of_both_engines

PAGES = ("", "/animals", "/categories", "/orders")
NEARLY = "The project is nearly full It holds 4 of the 5 animals, orders and categories"
FULL = "The project is full It may hold 5 animals, orders and categories together"


@pytest.fixture
def project(app: Flask) -> Project:
    """A project that may hold five rows."""
    return Project.add("Shelter", None, Plan("enterprise", 99, 99, 5))


def add(project: Project, animals: int) -> None:
    for _ in range(animals):
        add_pet(project, "Rex")


@of_both_engines
def test_overview_shows_how_many_there_are(browser: Browser, project: Project):
    add(project, 2)
    shown = browser.read("/dashboard")
    assert "Animals, orders and categories: 3 of 5 together" in shown
    assert "full" not in shown


@pytest.mark.parametrize("page", PAGES)
def test_pages_say_that_a_project_is_nearly_full_or_full(
    browser: Browser, project: Project, page: str
):
    add(project, 3)
    assert NEARLY in browser.read(f"/dashboard{page}")
    add(project, 1)
    assert FULL in browser.read(f"/dashboard{page}")


def test_unlimited_project_is_never_full(browser: Browser, project: Project):
    project.change_plan(Plan("business"))
    project.change_plan(Plan("enterprise", 99, 99))
    add(project, 6)
    shown = browser.read("/dashboard")
    assert "together" not in shown
    assert "full" not in shown


@of_both_engines
def test_forms_of_a_full_project_say_so_and_add_nothing(
    browser: Browser, project: Project
):
    add(project, 4)
    message = "The project is full: it may hold 5 animals, orders and categories"
    animal = {"name": "Tom", "categoryId": "7", "status": "available"}
    shown = browser.submit("/dashboard/animals", **animal)
    assert message in words(shown)
    assert 'value="Tom"' in shown.text
    assert message in browser.follow("/dashboard/categories", name="Cats")
    [pet] = PetTable.select().limit(1)
    for correction in ({"name": "Rex", "categoryId": each} for each in ("8", "Cats")):
        assert message in browser.follow(f"/dashboard/animals/{pet.id}", **correction)
    page = f"/dashboard/animals/{pet.id}"
    assert message in browser.follow(f"{page}/order")
    assert CategoryTable.select().count() == 1
    assert PetTable.select().count() == 4
