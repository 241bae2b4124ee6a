"""The API reference at /docs, which loads nothing from other hosts."""

from html import escape
from html.parser import HTMLParser

import pytest
from flask.testing import FlaskClient

from petstore.errors import ERRORS
from petstore.extensions.openapi.document import EXPLANATIONS

POLICY = (
    "base-uri 'none'; connect-src 'self'; default-src 'none'; form-action 'none'; "
    "frame-ancestors 'none'; img-src 'self' data:; script-src 'self'; style-src 'self'"
)


class Page(HTMLParser):
    """The resources that a page loads, and its inline styles and handlers."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.loads: list[str] = []
        self.inline: list[str] = []
        self.ids: list[str] = []
        self.fragments: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        attributes = dict(attrs)
        if tag in ("script", "img"):
            self.loads.append(attributes.get("src", ""))
        if tag == "link":
            self.loads.append(attributes["href"])
        if tag == "a" and "#" in attributes["href"]:
            self.fragments.append(attributes["href"].partition("#")[2])
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.inline += [name for name in attributes if name.startswith(("on", "style"))]
        self.inline += [tag] if tag == "style" else []


@pytest.fixture(scope="module")
def page(reader: FlaskClient) -> Page:
    answer = reader.get("/docs")
    assert answer.content_type == "text/html; charset=utf-8"
    return Page(answer.text)


def policy_of(client: FlaskClient, path: str) -> str:
    header = client.get(path, buffered=True).headers["Content-Security-Policy"]
    return "; ".join(sorted(header.split("; ")))


def test_page_loads_only_local_resources(reader: FlaskClient, page: Page):
    paths = [*dict.fromkeys(load.partition("?v=")[0] for load in page.loads)]
    names = ("docs.css", "trying.js", "samples.js", "contents.js")
    own = [f"/docs/static/{name}" for name in names]
    assert paths == ["/static/paw.svg", "/static/theme.css", *own]
    for path in page.loads:
        answer = reader.get(path, buffered=True)
        assert answer.status_code == 200
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert page.inline == []


def test_page_gives_other_sites_no_window_and_no_address(reader: FlaskClient):
    for path in ("", "/static/docs.css", "/static/nothing.js"):
        assert policy_of(reader, f"/docs{path}") == POLICY
    answer = reader.get("/docs", headers={"Host": "a'b&c.example"})
    for name in ("Cross-Origin-Opener", "Cross-Origin-Resource", "Referrer"):
        assert answer.headers[f"{name}-Policy"] == "same-origin"
    assert "a'b&c" not in answer.text


def test_each_operation_has_a_section_and_no_link_is_dead(page: Page, operations: dict):
    assert operations.keys() <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert len(page.fragments) > 40
    assert set(page.fragments) <= set(page.ids)


def test_servers_may_be_called(environ: dict[str, str], request: pytest.FixtureRequest):
    environ["PETSTORE_PRODUCTION_URL"] = "https://api.example.org/a/v1"
    environ["PETSTORE_STAGING_URL"] = "http://s.example.org:8080/v1"
    stranger = request.getfixturevalue("stranger")
    policy = policy_of(stranger, "/docs")
    called = "connect-src 'self' https://api.example.org http://s.example.org:8080"
    assert policy == POLICY.replace("connect-src 'self'", called)
    page = stranger.get("/docs").text
    assert "export API=https://api.example.org/a/v1 " in page
    assert '<option value="http://s.example.org:8080/v1">' in page


@pytest.mark.parametrize("path", ["/swagger.json", "/openapi.yaml", "/v1/openapi.json"])
def test_where_the_description_is_looked_for_its_place_is_told(
    client: FlaskClient, path: str
):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "/openapi.json" in answer.json["message"]


def test_each_error_is_explained(reader: FlaskClient):
    assert EXPLANATIONS.keys() == ERRORS.keys()
    page = reader.get("/docs").text
    for code, explanation in EXPLANATIONS.items():
        assert f'id="{code}"' in page
        assert escape(explanation["when"], quote=False) in page
