"""The web page of the documentation in a browser, with a key for its origin."""

import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from petstore.models.grants import PUBLIC, Grant
from petstore.models.keys import Key
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.e2e.people import require_accessible_everywhere
from tests.harness.documents import web_page
from tests.harness.services import AMPLE, serving
from tests.harness.stage import opened

PER_MINUTE = 2
NAMES = ["Rex", "<b>Luna</b>"]


@pytest.fixture
def port(sqlite_url: str, tmp_path: Path) -> Iterator[int]:
    """The port at which the page is served, with a key for http://localhost alone."""
    html = ""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever).start()
        with opened(sqlite_url):
            project = Project.add("Shelter", None, AMPLE)
            for name in NAMES:
                Pet.add(project.id, name=name, category_id=7, status="available")
            origin = f"http://localhost:{server.server_port}"
            key = Key.issue(project, Grant(PUBLIC, PER_MINUTE, 1000, (origin,)))
        with serving(tmp_path, {"DATABASE_URL": sqlite_url}, key=key) as service:
            html = web_page("petstore/openapi/guide.md", f"{service.url}/v1")
            html = html.replace("YOUR_KEY_FOR_A_WEB_PAGE", key)
            yield server.server_port
        server.shutdown()


@pytest.fixture
def visitor() -> Iterator[Page]:
    """A page of a browser that resolves names as usual."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield chromium.new_page()
        chromium.close()


def test_web_page_lists_the_animals_to_visitors_of_its_origin(visitor: Page, port: int):
    visitor.goto(f"http://localhost:{port}")
    expect(visitor.get_by_role("listitem")).to_have_text(NAMES)
    require_accessible_everywhere(visitor)
    for _ in range(PER_MINUTE):
        visitor.reload()
    message = f"This key allows {PER_MINUTE} requests a minute; wait"
    expect(visitor.get_by_role("status")).to_contain_text(message)


def test_web_page_of_another_origin_shows_why_it_lists_nothing(
    visitor: Page, port: int
):
    visitor.goto(f"http://127.0.0.1:{port}")
    message = f"This key may only be used by pages of http://localhost:{port}."
    expect(visitor.get_by_role("status")).to_contain_text(message)
    expect(visitor.get_by_role("listitem")).to_have_count(0)
