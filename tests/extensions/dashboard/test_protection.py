"""What every page has: headers, escaped texts, and a page for each failure."""

import re
from itertools import product
from unittest.mock import Mock
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient
from markupsafe import escape
from peewee import ProgrammingError
from werkzeug.routing import MapAdapter

from petstore.extensions.dashboard.form_parser import FORM
from petstore.extensions.dashboard.models import Session
from petstore.extensions.dashboard.sessions import wanted_page
from petstore.models.activity import Event
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.projects import Project
from petstore.storage.database import db
from petstore.storage.engine import Busy
from tests.harness.answers import error_of
from tests.harness.browser import SIGN_IN, Browser, add_pet, words

# A list that is printed reads the rest of itself, so it connects.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
NASTY = (
    *("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'),
    *("' onfocus='alert(1)' autofocus='", "</title></style><svg onload=alert(1)>"),
    *("&lt;b&gt; &amp;amp;", "<b>{{ 7 * 7 }}{% raw %}</b>", "javascript:alert('1')"),
    "\u202e<gnorw>\u2066",
)
INLINE = re.compile(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=\"|javascript:")


def test_pages_send_security_headers_and_contain_nothing_inline(browser: Browser):
    for page in (
        *("", "/animals", "/categories", "/orders", "/keys", "/sessions"),
        *("/settings/domains", "/sign-in", "/nowhere", "/static/none.css"),
    ):
        answer = browser.get(f"/dashboard{page}")
        assert answer.headers["Content-Security-Policy"] == POLICY
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert not INLINE.search(answer.text)


def test_names_are_escaped(browser: Browser, client: FlaskClient, project: Project):
    for number, nasty in enumerate(NASTY):
        Order.place(project.id, add_pet(project, nasty, number))
        client.put(f"/v1/categories/{number}", json={"name": nasty})
        label = Key.issue(project, label=nasty)
    name = " ".join(NASTY)
    Project.update(name=name).where(Project.id == project.id).execute()
    assert escape(NASTY[-1]) in browser.get(f"/dashboard/keys/{label[:16]}").text
    for page in ("animals", "categories", "orders", "keys"):
        text = browser.get(f"/dashboard/{page}").text
        assert escape(name) in text
        for nasty in NASTY:
            assert text.count(escape(nasty)) >= 2, (page, nasty)
            assert "<" not in nasty or nasty not in text


def test_reflected_input_is_escaped(browser: Browser):
    name = " ".join(NASTY) + "x" * 200
    quoted = quote(name)
    for answer in (
        browser.submit("/dashboard/keys", label=name, days=name),
        browser.submit("/dashboard/sign-in", key=name),
        browser.submit("/dashboard/animals", name=name, categoryId=name),
        browser.submit("/dashboard/categories/7", name=name),
        browser.get(f"/dashboard/animals?status={quoted}"),
        browser.get(f"/dashboard/animals?limit=0&name={quoted}"),
        browser.get(f"/dashboard/keys/{quoted}"),
        browser.get(f"/dashboard/{quoted}"),
    ):
        assert answer.status_code in (400, 401, 404)
        assert not [each for each in NASTY if "<" in each and each in answer.text]


def test_browsers_keep_a_style_sheet_until_it_changes(browser: Browser):
    pattern = r'stylesheet" href="([^"]+\?v=[0-9a-f]{12})"'
    styles = re.findall(pattern, browser.get("/dashboard/sign-in").text)
    assert styles
    for style in styles:
        with browser.get(style) as answer:
            assert answer.content_type == "text/css; charset=utf-8"
            assert answer.headers["Cache-Control"] == "public, max-age=31536000"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
    files = ("static/theme.css", "dashboard/static/page.css", "docs/static/docs.css")
    for file, version in product(files, ("", "?v=", "?v=000000000000")):
        with browser.get(f"/{file}{version}") as answer:
            assert answer.status_code == 200
            assert answer.headers.getlist("Cache-Control") == ["no-cache"]


def test_names_are_quoted_where_they_lead(browser: Browser, visitor: Browser, key: str):
    for name in ("%0D%0A", "a%3Fb%23", "%25%C3%BC"):
        page = f"/dashboard/animals/import/{name}?x=%0D%3C&b=%zz"
        assert browser.submit(page).location == page
        asked = visitor.get(page).location
        assert parse_qs(urlsplit(asked).query)["next"] == [page]
        browser.submit("/dashboard/sign-out")
        assert browser.submit(SIGN_IN, key=key, next=page).location == page


def test_next_page_is_found_in_few_steps(app: Flask, monkeypatch: pytest.MonkeyPatch):
    tried, test = [], MapAdapter.test
    monkeypatch.setattr(MapAdapter, "test", lambda *it: tried.append(it) or test(*it))
    with app.test_request_context("/dashboard/animals/import" + "/" * 15_000):
        assert wanted_page() == "/dashboard/animals/import"
    assert len(tried) <= 3


KEYS = "/dashboard/keys"


def is_page(answer: object, status: int) -> bool:
    return (answer.status_code, answer.mimetype) == (status, "text/html")


def test_unknown_path_gets_a_404_page(visitor: Browser):
    for path in ("/x", "/keys/", "/sign-in/x", "/static/none.css"):
        answer = visitor.get(f"/dashboard{path}")
        assert is_page(answer, 404)
        assert "This page no longer exists" in words(answer)
        assert "Sign out" not in words(answer)


@pytest.mark.usefixtures("few_pages")
def test_unknown_path_counts_as_a_page(browser: Browser):
    assert all("Sign out" in browser.read("/dashboard/x") for _ in range(3))
    assert browser.get("/dashboard").status_code == 429


@pytest.mark.parametrize(
    ("path", "look"),
    [("x", (Session, "find_caller")), ("animals/7", (Event, "get_or_none"))],
)
def test_fault_of_the_database_is_not_hidden_by_a_404(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, path: str, look: tuple
):
    for error, status in ((Busy("It is locked."), 404), (ProgrammingError(), 500)):
        monkeypatch.setattr(*look, Mock(side_effect=error))
        assert is_page(browser.get(f"/dashboard/{path}"), status)


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


def test_outage_is_a_503(browser: Browser, app: Flask, monkeypatch: pytest.MonkeyPatch):
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
        assert "kept what you typed: Rex Category 7 Send again" in words(answer)
        assert "pet_secret" not in browser.submit(SIGN_IN, key="pet_secret").text
    assert browser.get("/dashboard").status_code == 200


def test_form_that_is_too_much_or_not_utf_8_is_refused(browser: Browser):
    fields = {f"field{number}": "x" for number in range(21)}
    answer = browser.submit(KEYS, **fields)
    assert is_page(answer, 400)
    assert "at most 20 fields" in answer.text
    assert is_page(browser.submit(KEYS, label="x" * 70_000), 413)
    answer = browser.client.post(KEYS, data="label=%FF", content_type=FORM)
    assert is_page(answer, 400)
    assert "must be UTF-8" in answer.text


def test_multipart_form_of_a_stranger_is_not_read(visitor: Browser, key: str):
    form = {"data": {"key": key}, "content_type": "multipart/form-data"}
    assert visitor.client.post(SIGN_IN, **form).status_code == 401
    assert visitor.client.post(SIGN_IN, data={"key": key}).status_code == 303
