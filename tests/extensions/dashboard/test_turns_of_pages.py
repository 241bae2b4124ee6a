"""How much of one session and of one project runs at once."""

from collections.abc import Iterator

import pytest
from flask import Flask

from petstore.extensions.dashboard import exclusively
from petstore.extensions.sheets import exports
from petstore.models.projects import Project
from petstore.web.turns import turns_of
from tests.harness.browser import Browser
from tests.harness.turns import HERE, fill, is_free, key_id, nobody_waits

__all__ = ["key_id", "nobody_waits"]  # fixtures
pytestmark = pytest.mark.usefixtures("nobody_waits")


def test_session_counts_by_its_key(app: Flask, browser: Browser, key_id: int):
    fill(app, key_id)
    assert browser.get("/dashboard/animals").status_code == 503
    turns_of(app).release(key_id)
    assert browser.get("/dashboard/animals").status_code == 200


def test_export_that_has_begun_has_no_turn_and_is_not_refused(
    app: Flask,
    project: Project,
    browser: Browser,
    key_id: int,
    monkeypatch: pytest.MonkeyPatch,
):
    def parts(_project_id: int, _: str) -> Iterator[bytes]:
        yield from (b"these are read ", b"before it begins ")
        yield f"{is_free(app, HERE)} {is_free(app, key_id)}".encode()

    monkeypatch.setattr(exports, "animals", parts)
    with browser.get("/dashboard/animals.csv") as export:
        with exclusively(turns_of(app), project.id):  # who waits now is refused
            assert export.data.endswith(b"these are read before it begins True True")
        assert is_free(app, ("project", project.id))


def test_what_computes_long_is_done_once_at_a_time_for_a_project(
    app: Flask, project: Project, rival: Project, browser: Browser
):
    with exclusively(turns_of(app), rival.id):
        assert browser.get("/dashboard").status_code == 200
    with exclusively(turns_of(app), project.id):
        for path in ("", "/animals?whole=1", "/orders?whole=1", "/categories?whole=1"):
            assert browser.get(f"/dashboard{path}").status_code == 503
        assert browser.get("/dashboard/animals").status_code == 200
        assert browser.get("/dashboard/animals.csv").status_code == 503
