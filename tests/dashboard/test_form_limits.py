"""Forms that write animals, orders or categories are requests of the project's plan."""

import re
from collections.abc import Callable
from itertools import count

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from tests.harness.browser import Browser, add_pet, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

ANIMALS = "/dashboard/animals"
CATEGORIES = "/dashboard/categories"
ORDERS = "/dashboard/orders"
PER_MINUTE = 5
# What no operation of the API does. Their pages are limited, and what they create.
OTHERS = ("/sign-in", "/sign-out", "/keys", "/sessions", "/settings/domains")
CHOOSE_FILE = f"{ANIMALS}/import"  # which leads to a question

NUMBERS = count()
Submit = Callable[[Browser], object]
FORMS: dict[str, Submit] = {
    ANIMALS: lambda b: b.submit(ANIMALS, name="Rex", categoryId="7"),
    f"{ANIMALS}/import/<file>": lambda b: b.import_file("name,category\nRex,7\n"),
    f"{ANIMALS}/<id:pet_id>": lambda b: b.submit(
        f"{ANIMALS}/4", name="Rex", categoryId="7"
    ),
    f"{ANIMALS}/<id:pet_id>/order": lambda b: b.submit(f"{ANIMALS}/4/order"),
    f"{ANIMALS}/<id:pet_id>/withdraw": lambda b: b.submit(f"{ANIMALS}/5/withdraw"),
    CATEGORIES: lambda b: b.submit(CATEGORIES, name=f"Kind {next(NUMBERS)}"),
    f"{CATEGORIES}/<id:category_id>": lambda b: b.submit(
        f"{CATEGORIES}/7", name="Cats"
    ),
    f"{CATEGORIES}/<id:category_id>/delete": lambda b: b.submit(
        f"{CATEGORIES}/{Category.add(1, f'Kind {next(NUMBERS)}').id}/delete"
    ),
    f"{ORDERS}/<id:order_id>": lambda b: b.submit(f"{ORDERS}/1", reference="Ada"),
    f"{ORDERS}/<id:order_id>/delete": lambda b: b.submit(f"{ORDERS}/3/delete"),
    f"{ORDERS}/<id:order_id>/complete": lambda b: b.submit(f"{ORDERS}/1/complete"),
    f"{ORDERS}/<id:order_id>/cancel": lambda b: b.submit(f"{ORDERS}/2/cancel"),
}


@pytest.fixture
def project(app: Flask) -> Project:
    """A project with five requests a minute, three orders and two more animals."""
    project = Project.add("Shelter", None, Plan("enterprise", PER_MINUTE, 100))
    for name in ("Tim", "Tom", "Tum"):
        Order.place(project.id, add_pet(project, name))
    Order.change(project.id, 3, status="completed")
    for name in ("Tam", "Tem"):
        add_pet(project, name)
    return project


def left(client: FlaskClient) -> int:
    """Return how many requests of the minute are left, after this one."""
    return int(client.get("/v1/pets").headers["X-RateLimit-Remaining"])


def test_each_form_is_a_request_or_does_what_no_operation_does(app: Flask):
    forms = {
        rule.rule
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/dashboard") and "POST" in rule.methods
    }
    others = {form for form in forms if form[len("/dashboard") :].startswith(OTHERS)}
    assert forms - others - {CHOOSE_FILE} == FORMS.keys()


@of_both_engines
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_form_counts_as_a_request(
    browser: Browser, client: FlaskClient, form: Submit
):
    before = left(client)
    assert form(browser).status_code == 303
    assert left(client) == before - 2


@of_both_engines
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_form_is_refused_when_the_requests_are_used_up(
    browser: Browser, client: FlaskClient, clock: Clock, form: Submit
):
    while left(client):
        pass
    answer = form(browser)
    assert answer.status_code == 429
    assert "Enterprise allows 5 requests a minute; wait 50 s." in words(answer)
    clock.move(seconds=int(answer.headers["Retry-After"]))
    assert form(browser).status_code == 303


def test_a_refused_form_is_shown_again_by_the_page_that_refuses_it(
    browser: Browser, client: FlaskClient, clock: Clock
):
    fields = {"name": "Ömer", "categoryId": "7", "idempotency_key": "x"}
    while left(client):
        pass
    page = browser.submit(ANIMALS, **fields)
    assert "still here: Ömer 7 Send it again" in words(page)
    sent = dict(re.findall('type="hidden" name="(.+)" value="(.+)"', page.text))
    clock.move(seconds=int(page.headers["Retry-After"]))
    for _ in range(2):
        assert "Ömer is added, with the id 6." in browser.follow(ANIMALS, **sent)
    headers = {"Sec-Fetch-Site": "cross-site"}
    while left(client):
        pass
    page = browser.client.post(ANIMALS, data=fields, headers=headers)
    assert "Ömer" not in page.text


def test_no_more_animals_are_added_by_forms_than_the_plan_allows(
    app: Flask, key: str, project: Project
):
    browsers = [Browser(app, key) for _ in range(3)]
    for browser in browsers * PER_MINUTE:
        FORMS[ANIMALS](browser)
    added = list(Pet.page(project.id, after=0, limit=100))
    assert len(added) - 5 == PER_MINUTE


def test_pages_and_forms_of_other_sites_are_no_requests(
    browser: Browser, client: FlaskClient
):
    before = left(client)
    assert browser.get(ANIMALS).status_code == 200
    headers = {"Sec-Fetch-Site": "cross-site"}
    assert browser.client.post(ANIMALS, headers=headers).status_code == 400
    assert left(client) == before - 1


def test_refused_forms_ban_nobody_and_a_ban_refuses_none(
    browser: Browser, client: FlaskClient, key: str, clock: Clock
):
    while left(client):
        pass
    for _ in range(30):
        clock.move(seconds=1)
        assert FORMS[ANIMALS](browser).status_code == 429
    assert Key.by_prefix(key[:16]).state == "active"
    clock.move(seconds=60)
    Key.ban(Key.by_prefix(key[:16]).id, clock.now_ms + 60_000)
    assert FORMS[ANIMALS](browser).status_code == 303
