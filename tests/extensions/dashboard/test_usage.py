"""/dashboard/usage: the plan, both quotas, 30 days of requests, and how many rows."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models import flush_queues
from petstore.models.categories import Category
from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from tests.harness.browser import Browser, add_pet, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

USAGE = "/dashboard/usage"
DAY_ROW = re.compile(r'row">([^<]+)</th><td class="number">(\S+?)</td>.*?>(\S+?)</td>')


@pytest.fixture
def project(app: Flask) -> Project:
    """A project with 3 requests a minute and 8 a day."""
    return Project.add("Shelter", None, Plan("enterprise", 3, 8))


def call(client: FlaskClient, times: int) -> None:
    for _ in range(times):
        client.get("/v1/pets")
    flush_queues()


def test_both_quotas_and_the_plans_are_shown(client: FlaskClient, browser: Browser):
    call(client, 2)
    shown = browser.read(USAGE)
    assert "Plan Enterprise" in shown
    assert "2 of 3 requests 1 left · resets in 50 s" in shown
    assert "2 of 8 requests 6 left · resets at 00:00 UTC, in 11 h 59 min" in shown
    assert "Free 60 1,000 10,000 no Pro 300 10,000 100,000 yes" in shown
    assert "Business 1,000 100,000 1,000,000 yes" in shown
    assert "Enterprise Your plan 3 8 any number yes" in shown
    # Looking at it has used up nothing.
    assert client.get("/v1/pets").headers["X-RateLimit-Remaining"] == "0"


def test_domains_are_not_offered_without_a_base_domain(browser: Browser):
    page = browser.read("/dashboard/settings/domains")
    assert "Domains of your own are not offered here" in page
    assert "PETSTORE" not in page
    added = browser.submit("/dashboard/settings/domains", name="shop.example.org")
    assert added.status_code == 404


@of_both_engines
def test_days_are_listed(client: FlaskClient, visitor: Browser, key: str, clock: Clock):
    call(client, 5)
    clock.move(days=1)
    call(client, 1)
    visitor.sign_in(key)
    page = visitor.get(USAGE).text
    assert "<title>17 Mar: 3 served, 2 refused</title>" in page
    rows = DAY_ROW.findall(page)
    assert rows[:2] == [("18 Mar", "1", "0"), ("17 Mar", "3", "2")]
    assert len(rows) == 30


def test_what_is_used_up_is_named(
    client: FlaskClient, browser: Browser, project: Project, clock: Clock
):
    project.change_plan(Plan("free"))
    call(client, 61)
    assert (
        "The requests of this minute are used up Free allows 60 requests a minute. "
        "The service refuses further ones with error 429 for 50 s. "
        "Pro allows 300 a minute. "
        "Business allows 1,000 a minute. See the plans . "
        "Ask the operator of this service for another plan."
    ) in browser.read(USAGE)
    project.change_plan(Plan("enterprise", 3, 60))
    shown = browser.read(USAGE)
    assert "Today's requests are used up Enterprise allows 60 requests a day." in shown
    assert (
        "error 429 until 00:00 UTC, for 11 h 59 min. Free allows 1,000 a day." in shown
    )
    assert "this minute are used up" not in shown


def test_contact_is_named(environ: dict[str, str], request: pytest.FixtureRequest):
    environ["PETSTORE_CONTACT"] = "sales@example.org"
    page = request.getfixturevalue("browser").get(USAGE)
    assert '<a href="mailto:sales@example.org">' in page.text
    assert "Ask sales@example.org for another plan." in words(page)


HOLDS_FIVE = Plan("enterprise", 99, 99, 5)
NEARLY = "The project is nearly full It holds 4 of the 5 animals, reservations"
FULL = "The project is full It holds the 5 animals, reservations and categories"


def add(project: Project, animals: int) -> None:
    for _ in range(animals):
        add_pet(project, "Rex")


def test_full_project_is_told_and_forms_add_nothing(browser: Browser, project: Project):
    project.change_plan(HOLDS_FIVE)
    add(project, 2)
    shown = browser.read(USAGE)
    assert "Animals, reservations and categories: 3 of 5 together" in shown
    assert "full" not in shown
    for told in (NEARLY, FULL):
        add(project, 1)
        for page in ("", "/usage", "/animals", "/categories", "/orders"):
            assert told in browser.read(f"/dashboard{page}")
    message = "The project is full: it may hold 5 animals, orders and categories"
    shown = browser.submit("/dashboard/animals", name="Tom", categoryId="7")
    assert message in words(shown)
    assert 'value="Tom"' in shown.text
    assert Category.select().count() == 1
    assert Pet.select().count() == 4
