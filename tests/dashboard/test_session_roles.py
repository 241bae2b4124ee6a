"""What a session may open and do by the role of its key; see also docs/roles.md."""

import pytest
from flask import Flask

from petstore.models.callers import Caller
from petstore.models.grants import PUBLIC, READ, WRITE, Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.models.sessions import Session
from tests.harness.browser import SIGN_IN, Browser, words

MENU = "Overview Animals Categories Orders Requests"
KEYS = "/dashboard/keys"


@pytest.fixture
def writer_key(project: Project) -> str:
    """A key that may write."""
    return Key.issue(project, Grant(WRITE))


@pytest.fixture
def writer(app: Flask, writer_key: str) -> Browser:
    """A browser that is signed in with a key that may write."""
    return Browser(app, writer_key)


def test_key_that_only_reads_cannot_sign_in(visitor: Browser, project: Project):
    for grant, may in (
        (Grant(READ), "This key may only read."),
        (Grant(PUBLIC, 9, 9), "This key may only read animals and categories."),
    ):
        key = Key.issue(project, grant)
        answer = visitor.sign_in(key)
        assert answer.status_code == 403
        assert f"{may} This takes a key that may write." in words(answer)
        assert key not in answer.text
        assert visitor.get("/dashboard").location == SIGN_IN
    assert Session.select().count() == 0
    # They are counted like wrong ones.
    assert {visitor.sign_in(key).status_code for _ in range(9)} == {403, 429}


def test_old_session_of_a_read_key_opens_no_page(browser: Browser, key: str):
    Key.update(stored_role=READ).where(Key.prefix == key[:16]).execute()
    for page in ("", "/animals", "/keys", "/settings/domains"):
        assert browser.get(f"/dashboard{page}").status_code == 403
    assert "Sign out API reference" in browser.read("/dashboard")


def test_menu_offers_what_a_key_may(browser: Browser, writer: Browser, writer_key: str):
    assert f"{MENU} API reference" in writer.read("/dashboard")
    rest = "Keys Sessions Domains Activity API reference"
    assert f"{MENU} {rest}" in browser.read("/dashboard")
    answer = writer.get(KEYS)
    assert answer.status_code == 403
    told = "This key may only read and write animals, categories and orders."
    assert f"{told} This takes a full key." in words(answer)
    assert f"{MENU} API reference" in words(answer)
    Key.ban(Caller.of(writer_key).key_id, 2**42)
    page = writer.get("/dashboard")
    assert "key of this session is banned" in words(page)
    assert KEYS not in page.text
