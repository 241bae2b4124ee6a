"""The pages of a suspended project: sessions end, and nobody signs in."""

import pytest
from flask import Flask

from petstore.extensions.activity.events import newest, title_of
from petstore.extensions.dashboard.models import Session, Upload
from petstore.models.activity import SETTINGS
from petstore.models.callers import Caller
from petstore.models.grants import WRITE, Grant
from petstore.models.keys import Key
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.upkeep.projects import set_suspended
from tests.harness.browser import IMPORT, SIGN_IN, Browser, words
from tests.harness.databases import of_both_engines

ANIMALS = "/dashboard/animals"
TEXT = "This project is suspended until whoever runs this service resumes it."
CONTACT = "help@example.org"


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    return environ | {"PETSTORE_CONTACT": CONTACT}


@of_both_engines
def test_a_session_ends_and_does_not_come_back(
    browser: Browser, key: str, project: Project
):
    set_suspended(project, True)
    page = browser.get(ANIMALS)
    assert page.location == f"{SIGN_IN}?next={ANIMALS}"
    assert f"{TEXT} Ask {CONTACT}." in browser.read(page.location)
    assert browser.sign_in(key).status_code == 403
    set_suspended(project, False)
    assert browser.get(ANIMALS).status_code == 303
    browser.sign_in(key)
    assert browser.get(ANIMALS).status_code == 200


@of_both_engines
def test_a_session_that_another_release_has_begun_is_none(
    app: Flask, key: str, project: Project
):
    caller = Caller.find_by_key(key)
    set_suspended(project, True)
    token = Session.begin(caller)
    assert Session.find_caller(token) is None
    set_suspended(project, False)
    assert Session.find_caller(token) is None


def test_nobody_signs_in_and_everybody_is_told_why(visitor: Browser, project: Project):
    for role in ("read", WRITE, "full"):
        key = Key.issue(project, Grant(role))
        set_suspended(project, True)
        answer = visitor.sign_in(key)
        assert answer.status_code == 403
        assert f"{TEXT} Ask {CONTACT}." in words(answer)
        assert not Session.select().exists()
        set_suspended(project, False)


def test_what_was_typed_is_there_again_when_the_project_is_resumed(
    browser: Browser, key: str, project: Project
):
    set_suspended(project, True)
    answer = browser.submit(ANIMALS, name="Minka", categoryId="1")
    assert answer.location == f"{SIGN_IN}?next={ANIMALS}"
    browser.sign_in(key)
    set_suspended(project, False)
    browser.sign_in(key)
    assert 'value="Minka"' in browser.get(ANIMALS).text
    assert not Pet.select().exists()


@of_both_engines
def test_a_file_that_waits_is_not_imported(browser: Browser, project: Project):
    question = browser.upload("name,category\nRex,Dogs\n").location
    set_suspended(project, True)
    assert browser.submit(question).location.startswith(SIGN_IN)
    assert browser.upload("name,category\nRex,Dogs\n").location == (
        f"{SIGN_IN}?next={IMPORT}"
    )
    assert not Upload.select().exists()
    assert not Pet.select().exists()


def test_sessions_of_others_stay(browser: Browser, app: Flask, rival: Project):
    other = Browser(app, Key.issue(rival))
    for is_suspended in (False, True, True, False, False):
        set_suspended(rival, is_suspended)
        assert browser.get(ANIMALS).status_code == 200
    assert other.get(ANIMALS).status_code == 303
    other.sign_in(Key.issue(rival))
    set_suspended(rival, False)  # as it is already
    assert other.get(ANIMALS).status_code == 200


def test_suspending_and_resuming_is_an_event_each_time(project: Project):
    for is_suspended in (True, True, False, False, True):
        set_suspended(project, is_suspended)
    titles = [title_of(event) for event in newest(project.id, SETTINGS)]
    assert titles == ["Project suspended", "Project resumed", "Project suspended"]
