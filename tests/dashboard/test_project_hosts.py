"""Sign-in with host routing: a project's host accepts its own keys only."""

import pytest
from flask import Flask

from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.dashboard.browser import Browser
from tests.hosts.fixtures import BASE


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    """The settings, with host routing on."""
    return environ | {"PETSTORE_BASE_DOMAIN": BASE}


@pytest.mark.parametrize("host", [BASE, f"shelter.{BASE}"])
def test_key_signs_in_on_its_project_host_and_the_base_domain(
    app: Flask, key: str, host: str
):
    browser = Browser(app, base_url=f"https://{host}")
    assert browser.sign_in(key).status_code == 303
    assert browser.get("/dashboard").status_code == 200


def test_key_of_another_project_is_refused(
    app: Flask, project: Project, rival: Project
):
    browser = Browser(app, base_url=f"https://shelter.{BASE}")
    assert browser.sign_in(Key.issue(rival)).status_code == 401


def test_session_of_another_project_is_refused(
    app: Flask, project: Project, rival: Project
):
    browser = Browser(app, base_url=f"https://rival.{BASE}")
    browser.sign_in(Key.issue(rival))
    cookie = browser.client.get_cookie(
        "petstore_session", f"rival.{BASE}", path="/dashboard"
    )
    there = Browser(app, base_url=f"https://shelter.{BASE}")
    there.client.set_cookie(
        "petstore_session", cookie.value, domain=f"shelter.{BASE}", path="/dashboard"
    )
    assert there.get("/dashboard").location == "/dashboard/sign-in"
