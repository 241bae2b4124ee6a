"""Failures below /dashboard are pages; elsewhere they are the Error body."""

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
def test_an_unknown_address_is_a_page(visitor: Browser, path: str):
    answer = visitor.get(f"/dashboard{path}")
    assert is_page(answer, 404)
    assert "There is nothing here" in words(answer)


@pytest.mark.parametrize("path", ["/dashboards", "/dashboar", "/x/dashboard"])
def test_what_only_resembles_one_of_theirs_is_not(visitor: Browser, path: str):
    assert visitor.get(path).json["code"] == "not_found"


def test_a_wrong_method_is_a_page_that_lists_the_right_ones(visitor: Browser):
    answer = visitor.get("/dashboard/sign-out")
    assert is_page(answer, 405)
    assert answer.headers["Allow"] == "OPTIONS, POST"


def test_a_form_that_is_too_large_is_a_page(browser: Browser):
    answer = browser.submit("/dashboard/keys", on="/dashboard/keys", label="x" * 70_000)
    assert is_page(answer, 413)


def test_a_bug_is_a_page_with_the_id_of_the_request(
    browser: Browser, app: Flask, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(app.extensions, "limiter", None)
    answer = browser.get("/dashboard")
    assert is_page(answer, 500)
    assert answer.headers["X-Request-ID"] in words(answer)
    assert "Traceback" not in answer.text


def test_an_outage_of_the_database_is_a_page(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise peewee.OperationalError("the disk has melted")

    monkeypatch.setattr(data.obj, "execute_sql", fail)
    answer = browser.get("/dashboard")
    assert is_page(answer, 503)
    assert answer.headers["Retry-After"] == "1"
    assert "melted" not in answer.text


def test_one_before_the_first_session_is_a_page_too(
    browser: Browser, app: Flask, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise peewee.OperationalError("the disk has melted")

    app.secret_key = None
    with monkeypatch.context() as outage:
        outage.setattr(data.obj, "execute_sql", fail)
        assert is_page(browser.get("/dashboard/sign-in"), 503)
    assert browser.get("/dashboard").status_code == 200


def test_the_interface_answers_as_before(visitor: Browser, project: Project):
    assert error_of(visitor.get("/v1/dashboard")) == (401, "missing_api_key")
