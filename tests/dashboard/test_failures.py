"""Errors below /dashboard are HTML pages; errors elsewhere are JSON."""

import pytest
from flask import Flask

from petstore.models.projects import Project
from petstore.storage.database import db
from petstore.storage.engine import Busy
from petstore.web.application import FORM
from tests.harness.answers import error_of
from tests.harness.browser import SIGN_IN, Browser, words

KEYS = "/dashboard/keys"


def is_page(answer: object, status: int) -> bool:
    return (answer.status_code, answer.mimetype) == (status, "text/html")


def test_unknown_path_gets_a_404_page(visitor: Browser):
    for path in ("/x", "/keys/", "/sign-in/x", "/static/none.css"):
        answer = visitor.get(f"/dashboard{path}")
        assert is_page(answer, 404)
        assert "There is nothing here" in words(answer)
        assert "Sign out" not in words(answer)


def test_every_page_has_the_menu_for_whoever_is_signed_in(browser: Browser):
    parts = (
        "Overview Animals Categories Orders Requests Keys Sessions Domains Activity "
        "API reference"
    )
    for path in ("", "/x", "/orders/1/complete"):
        assert f"Shelter Sign out {parts}" in browser.read(f"/dashboard{path}")


@pytest.mark.usefixtures("few_pages")
def test_unknown_path_counts_as_a_page(browser: Browser):
    assert all("Sign out" in browser.read("/dashboard/x") for _ in range(3))
    assert browser.get("/dashboard").status_code == 429


def test_other_paths_get_a_json_error(visitor: Browser, project: Project):
    for path in ("/dashboards", "/dashboar", "/x/dashboard"):
        assert visitor.get(path).json["code"] == "not_found"
    assert error_of(visitor.get("/v1/dashboard")) == (401, "missing_api_key")


def test_wrong_method_gets_a_405_page_with_allow(visitor: Browser):
    answer = visitor.get("/dashboard/sign-out")
    assert is_page(answer, 405)
    assert answer.headers["Allow"] == "OPTIONS, POST"


def test_bug_gets_a_500(browser: Browser, app: Flask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(app.extensions, "limiter", None)
    answer = browser.get("/dashboard")
    assert is_page(answer, 500)
    assert answer.headers["X-Request-ID"] in words(answer)
    assert "Traceback" not in answer.text


def test_outage_gets_a_503(
    browser: Browser, app: Flask, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise Busy("the disk has melted")

    app.secret_key = None  # as in a process that has served no page yet
    with monkeypatch.context() as outage:
        outage.setattr(db.obj, "execute_sql", fail)
        for path in ("/dashboard", SIGN_IN):
            answer = browser.get(path)
            assert is_page(answer, 503)
            assert answer.headers["Retry-After"] == "1"
            assert "melted" not in answer.text
        answer = browser.submit("/dashboard/animals", name="Rex", categoryId="7")
        assert "still here: Rex 7 Send it again" in words(answer)
        assert "pet_secret" not in browser.submit(SIGN_IN, key="pet_secret").text
    assert browser.get("/dashboard").status_code == 200


def test_form_that_is_too_much_is_refused(browser: Browser):
    fields = {f"field{number}": "x" for number in range(21)}
    answer = browser.submit(KEYS, **fields)
    assert is_page(answer, 400)
    assert "at most 20 fields" in answer.text
    assert is_page(browser.submit(KEYS, label="x" * 70_000), 413)


def test_form_that_is_not_utf_8_is_refused(browser: Browser):
    form = "name=%FF&categoryId=1&status=available"
    path = "/dashboard/animals"
    answer = browser.client.post(path, data=form, content_type=FORM)
    assert answer.status_code == 400
    assert "must be UTF-8" in answer.text


def test_multipart_form_of_a_stranger_is_not_read(visitor: Browser, key: str):
    form = {"data": {"key": key}, "content_type": "multipart/form-data"}
    assert visitor.client.post(SIGN_IN, **form).status_code == 401
    assert visitor.client.post(SIGN_IN, data={"key": key}).status_code == 303
