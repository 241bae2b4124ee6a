"""The web page of the documentation in a browser, with a key for its origin."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from jinja2 import Template
from playwright.sync_api import Page, expect

from petstore.models.grants import PUBLIC, Grant
from petstore.models.keys import Key
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.listening import listening
from tests.harness.servers import ROOT
from tests.harness.services import AMPLE, serving
from tests.harness.stage import opened
from tests.together.e2e.people import require_accessible_everywhere

PER_MINUTE = 2
NAMES = ["Rex", "<b>Luna</b>"]
# Libraries for tracing wrap `fetch` like this.
WRAP_FETCH = Path(__file__).with_name("wrap_fetch.js")


@pytest.fixture
def port(sqlite_url: str, tmp_path: Path) -> Iterator[int]:
    """The port at which the page is served, with a key for http://localhost alone."""
    pages = tmp_path / "pages"
    pages.mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=pages)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    environ = {"DATABASE_URL": sqlite_url}
    with opened(environ):
        project = Project.add("Shelter", None, AMPLE)
        for name in NAMES:
            Pet.add(project.id, name=name, category_id=7, status="available")
        origin = f"http://localhost:{server.server_port}"
        key = Key.issue(project, Grant(PUBLIC, PER_MINUTE, 1000, (origin,)))
    with listening(server), serving(tmp_path, environ, key=key) as service:
        source = (ROOT / "petstore/web/templates/web_page.html").read_text()
        html = Template(source).render(api=f"{service.url}/v1", key=key)
        (pages / "index.html").write_text(html)
        yield server.server_port


def test_web_page_lists_the_animals_to_visitors_of_its_origin(page: Page, port: int):
    page.goto(f"http://localhost:{port}")
    expect(page.get_by_role("listitem")).to_have_text(NAMES)
    require_accessible_everywhere(page)
    for _ in range(PER_MINUTE):
        page.reload()
    message = f"This key allows {PER_MINUTE} requests a minute; wait"
    expect(page.get_by_role("status")).to_contain_text(message)


def test_web_page_that_sends_headers_of_its_own_is_served(page: Page, port: int):
    page.add_init_script(path=WRAP_FETCH)
    page.goto(f"http://localhost:{port}")
    expect(page.get_by_role("listitem")).to_have_text(NAMES)


def test_web_page_of_another_origin_shows_why_it_lists_nothing(page: Page, port: int):
    page.goto(f"http://127.0.0.1:{port}")
    message = f"This key may only be used by pages of http://localhost:{port}."
    expect(page.get_by_role("status")).to_contain_text(message)
    expect(page.get_by_role("listitem")).to_have_count(0)
