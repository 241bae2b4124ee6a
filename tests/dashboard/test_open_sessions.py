"""/dashboard/sessions: listing and ending the open sessions of a project."""

import re
from collections.abc import Callable

import pytest
from flask import Flask

from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.models.sessions import MOST_LISTED, OpenSession, Session
from tests.harness.browser import Browser
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

SESSIONS = "/dashboard/sessions"
MINUTE = "17 Mar 2027 12:"


@pytest.fixture
def other(app: Flask, project: Project, browser: Browser, clock: Clock) -> Browser:
    """A browser that signed in with another key, a minute after the first one."""
    clock.move(seconds=60)
    return Browser(app, Key.issue(project, label="Website"))


def status(browser: Browser) -> int:
    return browser.get("/dashboard").status_code


def other_path(project: Project) -> str:
    """Return where the session of the key that is called Website ends."""
    for each in OpenSession.page(project.id):
        if each.label == "Website":
            return f"{SESSIONS}/{each.name}/end"
    raise LookupError


@pytest.mark.usefixtures("other")
def test_list_is_harmless(browser: Browser, key: str, clock: Clock, project: Project):
    clock.move(seconds=120)
    shown = browser.read(SESSIONS)
    own = f"No label This session {key[:16]} {MINUTE}00 UTC {MINUTE}03 UTC"
    its = f"Website pet_[0-9A-Za-z]{{12}} {MINUTE}01 UTC {MINUTE}01 UTC End"
    assert re.search(f"{own} {its}", shown)
    assert shown.count("This session") == 1
    for session in Session.select():
        assert session.digest not in browser.get(SESSIONS).text
        assert Session.caller(session.digest) is None


@of_both_engines
def test_session_is_ended_alone(
    app: Flask, browser: Browser, other: Browser, project: Project
):
    colleague = Browser(app, Key.issue(project))
    said = browser.follow(other_path(project))
    assert "The session is ended." in said
    assert "Website" not in said
    assert [status(each) for each in (other, browser, colleague)] == [303, 200, 200]
    assert "when your project ends it" in other.read("/dashboard/sign-in")


@of_both_engines
def test_all_others_end_and_those_of_another_project_go_on(
    app: Flask, browser: Browser, other: Browser, key: str, rival_key: Key
):
    token = Session.begin(Caller.by_prefix(rival_key.prefix))
    same_key = Browser(app, key)
    said = browser.follow(f"{SESSIONS}/end-others")
    assert "All other sessions are ended." in said
    assert "End all others" not in said
    assert [status(each) for each in (other, same_key, browser)] == [303, 303, 200]
    assert Session.caller(token).prefix == rival_key.prefix


@of_both_engines
def test_sessions_that_have_ended_are_not_listed(project: Project, clock: Clock):
    for end in (
        lambda _key: clock.move(seconds=3600),
        lambda key: key.revoke(),
        lambda key: key.rotate(0),
    ):
        key = Key.by_prefix(Key.issue(project)[:16])
        Session.begin(Caller.by_prefix(key.prefix))
        assert len(OpenSession.page(project.id)) == 1
        end(key)
        assert OpenSession.page(project.id) == []


def test_sessions_can_be_ended_after_another_key_has_used_up_the_pages(
    browser: Browser, other: Browser, project: Project, few_pages: None
):
    while status(other) != 429:
        pass
    assert "is ended" in browser.follow(other_path(project))
    assert status(other) == 303


@of_both_engines
def test_of_many_sessions_the_last_seen_are_listed_and_all_end_in_batches(
    browser: Browser, key: str, project: Project, clock: Clock, set_limits: Callable
):
    set_limits(deleted_rows=50)
    for _ in range(MOST_LISTED + 5):
        Session.begin(Caller.of(key))
    clock.move(seconds=60)
    assert "These are the 100 that were seen last" in browser.read(SESSIONS)
    assert len(OpenSession.page(project.id)) == MOST_LISTED
    browser.submit(f"{SESSIONS}/end-others")
    assert Session.select().count() == 1
