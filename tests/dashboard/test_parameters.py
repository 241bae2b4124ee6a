"""Unexpected parameters and path arguments never cause a server error."""

from itertools import product
from urllib.parse import quote

import pytest
from flask import Flask

from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

# The options of `url_for`, and the parameters of lists.
OPTIONS = ("endpoint", "values", "self", "_anchor", "_method", "_scheme", "_external")
NAMES = ("after", "before", "last", "limit", "status", "category", "name", "next")
VALUES = ("", "1", "x", "\0", "\ud800", "9" * 30, "x" * 5000, str(2**63 - 1))


@pytest.fixture(autouse=True)
def animals(project: Project) -> None:
    """Enough animals for a second page with limit=1."""
    for _ in range(3):
        add_pet(project, "Rex")


def quoted(text: str) -> str:
    return quote(text, errors="surrogatepass")


@pytest.mark.parametrize("page", ["animals", "categories", "orders", "keys", "sign-in"])
def test_odd_query_parameters_get_200_or_400(browser: Browser, page: str):
    for name, value in [*product(OPTIONS, ("", "x")), *product(NAMES, VALUES)]:
        query = f"{name}={quoted(value)}"
        status = browser.get(f"/dashboard/{page}?{query}").status_code
        assert status in (200, 400), query


@of_both_engines
@pytest.mark.parametrize("name", NAMES)
def test_odd_filters_get_200_or_400_on_every_engine(browser: Browser, name: str):
    for value in VALUES:
        query = f"status=available&after=1&{name}={quoted(value)}"
        status = browser.get(f"/dashboard/animals?{query}").status_code
        assert status in (200, 400), query


def test_odd_path_arguments_cause_no_server_error(
    browser: Browser, app: Flask, clock: Clock
):
    for rule, value in product(app.url_map.iter_rules(), VALUES):
        clock.move(seconds=1)  # so that a minute has no more pages than are allowed
        if rule.arguments and rule.rule.startswith("/dashboard"):
            start, _, end = rule.rule.replace(">", "<").split("<")
            send = browser.submit if "POST" in rule.methods else browser.get
            path = f"{start}{quoted(value) or '%20'}{end}"
            assert send(path).status_code in (200, 303, 400, 404), path


@of_both_engines
def test_key_prefix_with_a_null_byte_is_not_found(browser: Browser):
    assert browser.get("/dashboard/keys/%00").status_code == 404
    for deed in ("rotate", "revoke", "unban"):
        path = f"/dashboard/keys/%00/{deed}"
        assert browser.submit(path).status_code == 404
