"""With host routing, pages are served on the base domain alone."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.domains import Domain
from petstore.models.projects import Project
from tests.harness.browser import COOKIE, SIGN_IN, Browser
from tests.harness.host_fixtures import BASE, NAME, Own

PAGES = ["/dashboard", "/dashboard/", SIGN_IN, "/dashboard/keys", "/dashboard/nothing"]
PROJECT_HOSTS = [f"shelter.{BASE}", NAME, "old.example.org"]


@pytest.fixture
def environ(environ: dict[str, str], host_settings: dict[str, str]) -> dict[str, str]:
    """The settings, with host routing on."""
    return environ | host_settings


@pytest.fixture
def hosts(project: Project, own: Own) -> list[Domain]:
    """The domains of the project; the second one redirects to the first."""
    return [own(project, name) for name in PROJECT_HOSTS[1:]]


def test_a_key_signs_in_on_the_base_domain(app: Flask, key: str):
    browser = Browser(app, key, base_url=f"https://{BASE}")
    assert browser.get("/dashboard").status_code == 200


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("host", PROJECT_HOSTS)
def test_pages_on_a_project_host_lead_to_the_base_domain(app: Flask, host: str):
    browser = Browser(app, base_url=f"https://{host}:8443")
    for page in PAGES:
        answer = browser.get(f"{page}?next=%2Fdashboard&x=1")
        assert answer.status_code == 303
        told = f"https://{BASE}:8443{page}?next=%2Fdashboard&x=1"
        assert answer.headers["Location"] == told
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("host", PROJECT_HOSTS)
def test_a_key_cannot_sign_in_on_a_project_host(app: Flask, key: str, host: str):
    browser = Browser(app, base_url=f"https://{host}")
    answer = browser.submit(SIGN_IN, key=key)
    assert (answer.status_code, answer.location) == (303, f"https://{BASE}{SIGN_IN}")
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("host", ["evil.example.org", f"nobody.{BASE}", "127.0.0.1"])
def test_an_unknown_host_serves_no_page_even_with_a_session(
    app: Flask, key: str, host: str
):
    session = Browser(app, key).cookie
    stranger = Browser(app, base_url=f"http://{host}")
    stranger.cookie = session
    for page in PAGES:
        answer = stranger.get(page)
        assert answer.status_code == 421
        assert "Shelter" not in answer.text
        assert COOKIE not in answer.headers.get("Set-Cookie", "")


def test_a_removed_domain_serves_no_page(client: FlaskClient, shop: Domain):
    shop.remove()
    assert client.get(SIGN_IN, headers={"Host": NAME}).status_code == 421
