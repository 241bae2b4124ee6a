"""Unexpected parameters and path arguments never cause a server error."""

from itertools import product
from urllib.parse import quote

import pytest
from flask import Flask

from petstore.models.domains import Domain
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.dashboard.browser import Browser
from tests.hosts.fixtures import BASE

# The options of `url_for`, and the parameters of lists and paths.
OPTIONS = ("endpoint", "values", "self", "_anchor", "_method", "_scheme", "_external")
NAMES = ("after", "limit", "status", "prefix", "domain_id")
VALUES = ("", "0", "1", "x", "\0", "\ud800", "é", "' OR 1 --", "%00", "9" * 30)
LISTS = ("animals", "orders", "keys", "settings/domains")


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    return environ | {"PETSTORE_BASE_DOMAIN": BASE}


@pytest.fixture
def rows(project: Project) -> None:
    """Enough animals and domains for a second page with limit=1."""
    for number in range(3):
        Pet.add(project.id, "Rex", 1, "available")
        Domain.add(project, f"n{number}.example.org")


def quoted(text: str) -> str:
    return quote(text, errors="surrogatepass")


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("page", ["", "sign-in", *LISTS])
@pytest.mark.parametrize("around", ["{}", "after=1&limit=1&{}"])
def test_odd_query_parameters_get_200_or_400(browser: Browser, page: str, around: str):
    for name, value in [*product(OPTIONS, ("", "x")), *product(NAMES, VALUES)]:
        query = around.format(f"{name}={quoted(value)}")
        status = browser.get(f"/dashboard/{page}?{query}").status_code
        assert status in (200, 400), query


@pytest.mark.parametrize("value", VALUES)
def test_odd_path_arguments_get_400_or_404(browser: Browser, app: Flask, value: str):
    for rule in app.url_map.iter_rules():
        if rule.arguments and rule.rule.startswith("/dashboard"):
            method = "post" if "POST" in rule.methods else "get"
            path = rule.rule
            for argument in ("<path:filename>", "<prefix>", "<id:domain_id>"):
                path = path.replace(argument, quoted(value) or "%20")
            answer = getattr(browser.client, method)(path)
            assert answer.status_code in (400, 404), path


def test_key_prefix_with_a_null_byte_is_not_found(browser: Browser):
    for deed in ("rotate", "revoke", "unban"):
        path = f"/dashboard/keys/%00/{deed}"
        assert browser.submit(path, on="/dashboard/keys").status_code == 404
