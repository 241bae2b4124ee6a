"""Security headers of the pages, and the escaping of what they show."""

import re
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient
from markupsafe import escape

from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet

POLICY = {
    "default-src": "'none'",
    "style-src": "'self'",
    "script-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",  # a list that is printed reads the rest of itself
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
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


@pytest.mark.parametrize(
    "page",
    [
        *("", "/animals", "/categories", "/orders", "/keys", "/sessions"),
        "/settings/domains",
        *("/sign-in", "/nowhere", "/static/none.css"),
    ],
)
def test_pages_send_security_headers_and_contain_nothing_inline(
    browser: Browser, page: str
):
    answer = browser.get(f"/dashboard{page}")
    policy = answer.headers["Content-Security-Policy"].split("; ")
    assert dict(part.split(" ", 1) for part in policy) == POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["Cache-Control"] == "no-store"
    assert not INLINE.search(answer.text)


def test_names_and_labels_are_escaped(
    browser: Browser, client: FlaskClient, project: Project
):
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
    for style in re.findall(pattern, browser.get("/dashboard/sign-in").text):
        with browser.get(style) as answer:
            assert answer.content_type == "text/css; charset=utf-8"
            assert answer.headers["Cache-Control"] == "public, max-age=31536000"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("version", ["", "?v=", "?v=000000000000"])
@pytest.mark.parametrize(
    "file", ["/static/theme.css", "/dashboard/static/page.css", "/docs/static/docs.css"]
)
def test_browsers_ask_again_for_a_file_under_the_url_of_another_version(
    browser: Browser, file: str, version: str
):
    with browser.get(file + version) as answer:
        assert answer.status_code == 200
        assert answer.headers.getlist("Cache-Control") == ["no-cache"]
