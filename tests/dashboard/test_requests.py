"""The page of failed requests, and the requests of each key."""

import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.errors import ERRORS
from petstore.models.grants import Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.models.requests import FAILURES_KEPT, failures, uses
from tests.harness.browser import Browser
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

REQUESTS = "/dashboard/requests"


@pytest.fixture
def fail(client: FlaskClient) -> Callable[[str], None]:
    """A function that sends a request which fails, under an id."""

    def fail(request_id: str) -> None:
        client.get("/v1/pets/42", headers={"X-Request-ID": request_id})
        failures.flush()

    return fail


@of_both_engines
def test_request_is_found_by_its_id_with_all_that_is_known(
    browser: Browser, fail: Callable, key: str
):
    fail("mine-1")
    fail("mine-2")
    page = browser.get(f"{REQUESTS}?id=+mine-1+")
    text = browser.read(f"{REQUESTS}?id=mine-1")
    for fact in (
        *("1 request found", "getPet", "404", "not_found", "There is no animal 42."),
        *(ERRORS["not_found"].when, "17 Mar 2027", "12:00 UTC", key[:16], "mine-1"),
    ):
        assert fact in text
    assert "mine-2" not in text
    assert 'href="/docs#errors"' in page.text
    assert "mine-1" in page.text


def test_link_leads_to_what_the_reference_says(browser: Browser):
    page = browser.get("/docs").text
    assert 'id="errors"' in page
    for error in ERRORS.values():
        assert error.when.replace("<", "&lt;").replace(">", "&gt;") in page


def test_the_newest_are_first_and_two_hundred_are_shown(
    browser: Browser, fail: Callable, clock: Clock
):
    for number in range(FAILURES_KEPT + 5):
        fail(f"mine-{number}.")
        clock.move(seconds=0.1)
    assert "200 requests" in browser.read(REQUESTS)
    assert re.search(r"mine-204\. .* mine-203\. ", browser.read(REQUESTS))
    assert "mine-5." in browser.read(f"{REQUESTS}?last=1&limit=100")
    assert "mine-4." not in browser.read(f"{REQUESTS}?last=1&limit=100")


def test_page_says_what_it_may_mean_that_an_id_is_not_found(browser: Browser):
    assert "No request has failed" in browser.read(REQUESTS)
    assert "it has succeeded" in browser.read(f"{REQUESTS}?id=unknown")
    for invalid in ("x" * 201, "%00"):
        assert browser.get(f"{REQUESTS}?id={invalid}").status_code == 400


def test_write_key_sees_it_and_nobody_of_another_project(
    app: Flask, fail: Callable, project: Project, rival_key: Key, rival: Project
):
    fail("mine-1")
    writer = Browser(app, Key.issue(project, Grant("write")))
    assert "mine-1" in writer.read(REQUESTS)
    assert "mine-1" not in Browser(app, Key.issue(rival)).read(REQUESTS)


def test_key_page_and_list_show_what_was_served_and_refused(
    browser: Browser, client: FlaskClient, project: Project
):
    reader = Key.issue(project, Grant("read"))
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {reader}"
    for _ in range(2):
        client.get("/v1/pets/42")
    client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})  # a 403
    uses.flush()
    assert "2 and 1 refused 2 and 1 refused" in browser.read("/dashboard/keys")
    text = browser.read(f"/dashboard/keys/{reader[:16]}")
    assert "Requests today 2 and 1 refused In 30 days 2 and 1 refused" in text
