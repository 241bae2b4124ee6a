"""Errors below /dashboard are HTML pages; errors elsewhere are JSON."""

import peewee
import pytest
from flask import Flask

from petstore.database import data
from petstore.models.projects import Project
from tests.answers import error_of
from tests.dashboard.browser import Browser, words


def is_page(answer: object, status: int) -> bool:
    return (answer.status_code, answer.mimetype) == (status, "text/html")


@pytest.mark.parametrize("path", ["/x", "/keys/", "/sign-in/x", "/static/none.css"])
def test_unknown_path_gets_a_404_page(visitor: Browser, path: str):
    answer = visitor.get(f"/dashboard{path}")
    assert is_page(answer, 404)
    assert "There is nothing here" in words(answer)


@pytest.mark.parametrize("path", ["/dashboards", "/dashboar", "/x/dashboard"])
def test_similar_path_gets_a_json_error(visitor: Browser, path: str):
    assert visitor.get(path).json["code"] == "not_found"


def test_wrong_method_gets_a_405_page_with_allow(visitor: Browser):
    answer = visitor.get("/dashboard/sign-out")
    assert is_page(answer, 405)
    assert answer.headers["Allow"] == "OPTIONS, POST"


def test_oversized_form_gets_a_413_page(browser: Browser):
    answer = browser.submit("/dashboard/keys", on="/dashboard/keys", label="x" * 70_000)
    assert is_page(answer, 413)


def test_unexpected_error_gets_a_500_page_with_the_request_id(
    browser: Browser, app: Flask, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(app.extensions, "limiter", None)
    answer = browser.get("/dashboard")
    assert is_page(answer, 500)
    assert answer.headers["X-Request-ID"] in words(answer)
    assert "Traceback" not in answer.text


def test_database_outage_gets_a_503_page(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise peewee.OperationalError("the disk has melted")

    monkeypatch.setattr(data.obj, "execute_sql", fail)
    answer = browser.get("/dashboard")
    assert is_page(answer, 503)
    assert answer.headers["Retry-After"] == "1"
    assert "melted" not in answer.text


def test_outage_while_loading_the_secret_gets_a_503_page(
    browser: Browser, app: Flask, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise peewee.OperationalError("the disk has melted")

    app.secret_key = None
    with monkeypatch.context() as outage:
        outage.setattr(data.obj, "execute_sql", fail)
        assert is_page(browser.get("/dashboard/sign-in"), 503)
    assert browser.get("/dashboard").status_code == 200


def test_dashboard_path_under_v1_gets_a_json_error(visitor: Browser, project: Project):
    assert error_of(visitor.get("/v1/dashboard")) == (401, "missing_api_key")
