"""Security headers of the pages, and the escaping of what they show."""

import re
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient
from markupsafe import escape

from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.dashboard.browser import Browser

PAGES = ("", "/animals", "/orders", "/keys", "/sign-in", "/nowhere", "/static/none.css")
NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onfocus='alert(1)' autofocus='",
    "</title></style><svg onload=alert(1)>",
    "&lt;b&gt; &amp;amp;",
    "<b>{{ 7 * 7 }}{% raw %}</b>",
    "javascript:alert('1')",
    "\u202e<gnorw>\u2066",
)
INLINE = re.compile(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=\"|javascript:")


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """An empty SQLite database only: the pages do not depend on the engine."""
    return sqlite_url


@pytest.mark.parametrize("page", PAGES)
def test_pages_send_security_headers(browser: Browser, page: str):
    headers = browser.get(f"/dashboard{page}").headers
    policy = dict(
        part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; ")
    )
    assert policy == {
        "default-src": "'none'",
        "style-src": "'self'",
        "script-src": "'self'",
        "img-src": "'self' data:",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("page", PAGES)
def test_pages_contain_no_inline_script_or_style(browser: Browser, page: str):
    assert not INLINE.search(browser.get(f"/dashboard{page}").text)


@pytest.mark.parametrize("nasty", NASTY)
def test_names_and_labels_are_escaped(
    browser: Browser, client: FlaskClient, project: Project, nasty: str
):
    Order.place(project.id, Pet.add(project.id, nasty, 7, "available").id)
    client.put("/v1/categories/7", json={"name": nasty})
    own = Key.by_prefix(Key.issue(project, label=nasty)[:16])
    Project.update(name=nasty).where(Project.id == project.id).execute()
    for page in ("", "/animals", "/orders", "/keys", f"/keys/{own.prefix}"):
        text = browser.get(f"/dashboard{page}").text
        assert escape(nasty) in text
        assert "<" not in nasty or nasty not in text


@pytest.mark.parametrize("nasty", NASTY)
def test_reflected_input_is_escaped(browser: Browser, nasty: str):
    answers = [
        browser.submit(
            "/dashboard/keys", on="/dashboard/keys", label=nasty, days=nasty
        ),
        browser.submit("/dashboard/sign-in", on="/dashboard/sign-in", key=nasty),
        browser.get(f"/dashboard/animals?status={quote(nasty)}"),
        browser.get(f"/dashboard/keys/{quote(nasty)}"),
        browser.get(f"/dashboard/{quote(nasty)}"),
    ]
    assert {answer.status_code for answer in answers} <= {400, 401, 404}
    assert all("<" not in nasty or nasty not in answer.text for answer in answers)


def test_stylesheet_is_cached_as_immutable(browser: Browser):
    style = re.findall(r'stylesheet" href="([^"]+)"', browser.get("/dashboard").text)[0]
    answer = browser.get(style)
    assert answer.content_type == "text/css; charset=utf-8"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    answer.close()
