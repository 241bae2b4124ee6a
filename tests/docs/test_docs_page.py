"""The API reference at /docs, which loads nothing from other hosts."""

import re
from html.parser import HTMLParser

import pytest
from flask.testing import FlaskClient

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """An SQLite database; the page is the same with every engine."""
    return sqlite_url


class Page(HTMLParser):
    """The resources that a page loads, and its inline styles and handlers."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.inline: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        attributes = dict(attrs)
        if tag in ("script", "img"):
            self.loads.append(attributes.get("src", ""))
        if tag == "link":
            self.loads.append(attributes["href"])
        self.inline += [name for name in attributes if name.startswith(("on", "style"))]
        self.inline += [tag] if tag == "style" else []


@pytest.fixture
def page(stranger: FlaskClient) -> Page:
    return Page(stranger.get("/docs").text)


def policy_of(stranger: FlaskClient, path: str) -> dict[str, str]:
    header = stranger.get(path, buffered=True).headers["Content-Security-Policy"]
    return dict(part.strip().split(" ", 1) for part in header.split(";"))


def script_of(stranger: FlaskClient) -> str:
    return stranger.get("/docs/static/docs.js", buffered=True).text


def test_page_needs_no_key(stranger: FlaskClient):
    answer = stranger.get("/docs")
    assert answer.status_code == 200
    assert answer.content_type == "text/html; charset=utf-8"
    assert 'data-description="/openapi.json"' in answer.text


def test_page_sets_a_viewport_for_phones(stranger: FlaskClient):
    assert 'content="width=device-width, initial-scale=1"' in stranger.get("/docs").text


def test_page_loads_only_local_resources(stranger: FlaskClient, page: Page):
    assert len(page.loads) == 5
    for path in page.loads:
        assert path.startswith("/docs/")
        answer = stranger.get(path, buffered=True)
        assert answer.status_code == 200
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_page_has_no_inline_styles_or_handlers(page: Page):
    assert page.inline == []


@pytest.mark.parametrize("path", ["/docs", "/docs/swagger-ui/swagger-ui.css"])
def test_policy_allows_only_the_same_origin(stranger: FlaskClient, path: str):
    assert policy_of(stranger, path) == POLICY


def test_policy_allows_calls_to_the_configured_servers(
    environ: dict[str, str], request: pytest.FixtureRequest
):
    environ["PETSTORE_PRODUCTION_URL"] = "https://api.example.org/a/v1"
    environ["PETSTORE_STAGING_URL"] = "http://s.example.org:8080/v1"
    policy = policy_of(request.getfixturevalue("stranger"), "/docs")
    allowed = "'self' https://api.example.org http://s.example.org:8080"
    assert policy == POLICY | {"connect-src": allowed}


def test_page_uses_no_external_validator(stranger: FlaskClient):
    script = script_of(stranger)
    assert "validatorUrl: null" in script
    assert not re.search("https?://", script)


def test_page_does_not_persist_a_pasted_key(stranger: FlaskClient):
    assert "persistAuthorization: false" in script_of(stranger)


@pytest.mark.parametrize(
    "path",
    [
        *("/docs/", "/docs/page.py", "/docs/templates/docs.html"),
        *("/docs/static/../page.py", "/docs/static/%2e%2e/page.py"),
        *("/docs/swagger-ui/../__init__.py", "/docs/swagger-ui/..%2f__init__.py"),
    ],
)
def test_other_paths_below_docs_are_not_found(stranger: FlaskClient, path: str):
    assert stranger.get(path).status_code == 404


def test_not_found_response_has_a_policy(stranger: FlaskClient):
    answer = stranger.get("/docs/swagger-ui/nothing.js")
    assert answer.status_code == 404
    assert "Content-Security-Policy" in answer.headers
