"""Errors below /dashboard are HTML pages; errors elsewhere are JSON."""

import pytest
from flask import Flask

from petstore.models.projects import Project
from petstore.storage import db
from petstore.storage.engine import Busy
from tests.harness.answers import error_of
from tests.harness.browser import Browser, words


def is_page(answer: object, status: int) -> bool:
    return (answer.status_code, answer.mimetype) == (status, "text/html")


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An outage of the database, until the end of the test or `undo()`."""

    def fail(*_: object) -> None:
        raise Busy("the disk has melted")

    monkeypatch.setattr(db.obj, "execute_sql", fail)
    return monkeypatch


@pytest.mark.parametrize("path", ["/x", "/keys/", "/sign-in/x", "/static/none.css"])
def test_unknown_path_gets_a_404_page(visitor: Browser, path: str):
    answer = visitor.get(f"/dashboard{path}")
    assert is_page(answer, 404)
    assert "There is nothing here" in words(answer)
    assert "Sign out" not in words(answer)


@pytest.mark.parametrize("path", ["", "/x", "/orders/1/complete"])
def test_every_page_has_the_menu_for_whoever_is_signed_in(browser: Browser, path: str):
    parts = (
        "Overview Animals Categories Orders Requests Keys Sessions Domains Activity "
        "API reference"
    )
    assert f"Shelter Sign out {parts}" in browser.read(f"/dashboard{path}")


@pytest.mark.usefixtures("few_pages")
def test_unknown_path_counts_as_a_page(browser: Browser):
    assert all("Sign out" in browser.read("/dashboard/x") for _ in range(3))
    assert browser.get("/dashboard").status_code == 429
    assert browser.get("/dashboard").status_code == 429


@pytest.mark.parametrize("path", ["/dashboards", "/dashboar", "/x/dashboard"])
def test_similar_path_gets_a_json_error(visitor: Browser, path: str):
    assert visitor.get(path).json["code"] == "not_found"


def test_wrong_method_gets_a_405_page_with_allow(visitor: Browser):
    answer = visitor.get("/dashboard/sign-out")
    assert is_page(answer, 405)
    assert answer.headers["Allow"] == "OPTIONS, POST"


def test_unexpected_error_gets_a_500_page_with_the_request_id(
    browser: Browser, app: Flask, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(app.extensions, "limiter", None)
    answer = browser.get("/dashboard")
    assert is_page(answer, 500)
    assert answer.headers["X-Request-ID"] in words(answer)
    assert "Traceback" not in answer.text


def test_database_outage_gets_a_503_page(
    browser: Browser, app: Flask, request: pytest.FixtureRequest
):
    app.secret_key = None  # as in a process that has served no page yet
    outage = request.getfixturevalue("outage")
    for path in ("/dashboard", "/dashboard/sign-in"):
        answer = browser.get(path)
        assert is_page(answer, 503)
        assert answer.headers["Retry-After"] == "1"
        assert "melted" not in answer.text
    answer = browser.submit("/dashboard/animals", name="Rex", categoryId="7")
    assert "still here: Rex 7 Send it again" in words(answer)
    answer = browser.submit("/dashboard/sign-in", key="pet_secret")
    assert "pet_secret" not in answer.text
    outage.undo()
    assert browser.get("/dashboard").status_code == 200


def test_dashboard_path_under_v1_gets_a_json_error(visitor: Browser, project: Project):
    assert error_of(visitor.get("/v1/dashboard")) == (401, "missing_api_key")
