"""Sign-in with host routing: a project's host accepts its own keys only."""

import pytest
from flask import Flask

from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.dashboard.browser import SIGN_IN, Browser
from tests.harness.host_fixtures import BASE

SHELTER, RIVAL = f"https://shelter.{BASE}", f"https://rival.{BASE}"


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    """The settings, with host routing on."""
    return environ | {"PETSTORE_BASE_DOMAIN": BASE}


@pytest.mark.parametrize("host", [f"https://{BASE}", SHELTER])
def test_key_signs_in_on_its_project_host_and_the_base_domain(
    app: Flask, key: str, host: str
):
    browser = Browser(app, key, base_url=host)
    assert browser.get("/dashboard").status_code == 200


@pytest.mark.usefixtures("project")
def test_key_and_session_of_another_project_are_refused(app: Flask, rival: Project):
    key = Key.issue(rival)
    browser = Browser(app, base_url=SHELTER)
    assert browser.sign_in(key).status_code == 401
    browser.cookie = Browser(app, key, base_url=RIVAL).cookie
    assert browser.get("/dashboard").location == SIGN_IN
