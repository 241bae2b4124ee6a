"""What a session may open and do by the role of its key."""

import pytest
from flask import Flask

from petstore.models.callers import Caller
from petstore.models.grants import PUBLIC, READ, WRITE, Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.models.sessions import OpenSession, Session
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


@pytest.mark.parametrize(
    ("grant", "may"),
    [
        (Grant(READ), "This key may only read."),
        (Grant(PUBLIC, 9, 9), "This key may only read animals and categories."),
    ],
)
def test_a_key_that_only_reads_cannot_sign_in_and_is_told_why(
    visitor: Browser, project: Project, grant: Grant, may: str
):
    key = Key.issue(project, grant)
    answer = visitor.sign_in(key)
    assert answer.status_code == 403
    told = words(answer)
    assert f"{may} This takes a key that may write." in told
    assert key not in answer.text
    assert Session.select().count() == 0
    assert visitor.get("/dashboard").location == SIGN_IN


def test_read_keys_are_counted_like_wrong_ones_at_the_sign_in(
    visitor: Browser, project: Project
):
    key = Key.issue(project, Grant(READ))
    statuses = {visitor.sign_in(key).status_code for _ in range(11)}
    assert statuses == {403, 429}


def test_a_session_of_a_read_key_from_the_version_before_opens_no_page(
    browser: Browser, project: Project, key: str
):
    Key.update(stored_role=READ).where(Key.prefix == key[:16]).execute()
    for page in ("", "/animals", "/keys", "/settings/domains"):
        assert browser.get(f"/dashboard{page}").status_code == 403
    assert "Sign out API reference" in browser.read("/dashboard")


def test_the_menu_offers_what_the_key_may_do(browser: Browser, writer: Browser):
    assert f"{MENU} API reference" in writer.read("/dashboard")
    assert f"{MENU} Keys Sessions Domains Activity API reference" in browser.read(
        "/dashboard"
    )


@pytest.mark.parametrize(
    "page", ["/keys", "/keys/pet_0123456789ab", "/sessions", "/settings/domains"]
)
def test_a_write_key_is_told_what_it_may_do(writer: Browser, page: str):
    answer = writer.get(f"/dashboard{page}")
    assert answer.status_code == 403
    told = words(answer)
    assert "This key may only read and write animals, categories and orders." in told
    assert "This takes a full key." in told
    assert f"{MENU} API reference" in told


def test_a_banned_write_key_is_led_to_no_page_that_it_may_not_open(
    writer: Browser, writer_key: str
):
    caller = Caller.of(writer_key)
    Key.ban(caller.key_id, 2**42)
    page = writer.get("/dashboard")
    assert "key of this session is banned" in words(page)
    assert KEYS not in page.text


@pytest.mark.parametrize("whose", ["own", "other"])
@pytest.mark.parametrize("deed", ["", "/{}", "/{}/rotate", "/{}/revoke", "/{}/unban"])
def test_a_leaked_write_key_changes_no_key(
    writer: Browser, writer_key: str, key: str, deed: str, whose: str
):
    prefix = (writer_key if whose == "own" else key)[:16]
    Key.update(banned_until_ms=2**42).where(Key.prefix == prefix).execute()
    before = list(Key.select().order_by(Key.id).dicts())
    answer = writer.submit(KEYS + deed.format(prefix), grace="0", role="write")
    assert answer.status_code == 403
    assert list(Key.select().order_by(Key.id).dicts()) == before


@pytest.mark.parametrize("deed", ["{}/end", "end-others"])
def test_a_leaked_write_key_ends_no_session(
    writer: Browser, browser: Browser, project: Project, deed: str
):
    first = OpenSession.page(project.id)[0]
    path = f"/dashboard/sessions/{deed.format(first.name)}"
    assert writer.submit(path).status_code == 403
    assert Session.select().count() == 2
