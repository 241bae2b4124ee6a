"""Sessions of the dashboard: their cookies, and when they end."""

from collections.abc import Callable

import itsdangerous
import pytest
from flask import Flask

from petstore import clock as service_clock
from petstore.clock import MS_PER_DAY
from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.models.sessions import SWEPT_AT_ONCE, Session
from tests.clocks import Clock
from tests.dashboard.browser import Browser, words
from tests.statements import recorded

ENDS = {
    "revoked": lambda key, _clock: key.revoke(),
    "rotated without grace": lambda key, _clock: key.rotate(0),
    "banned": lambda key, clock: Key.ban(key.id, clock.now_ms + 1),
    "expired": lambda key, clock: (
        Key.update(expires_ms=clock.now_ms).where(Key.id == key.id).execute()
    ),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_session_ends_with_its_key(
    browser: Browser, key: str, clock: Clock, end: Callable[[Key, Clock], None]
):
    assert browser.get("/dashboard/keys").status_code == 200
    end(Key.by_prefix(key[:16]), clock)
    assert browser.get("/dashboard/keys").location == "/dashboard/sign-in"
    assert "Your session is over" in words(browser.get("/dashboard/sign-in"))


def test_session_lasts_through_the_grace_period_of_its_key(
    browser: Browser, key: str, clock: Clock
):
    Key.by_prefix(key[:16]).rotate(60)
    clock.move(seconds=59)
    assert browser.get("/dashboard").status_code == 200
    clock.move(seconds=1)
    assert browser.get("/dashboard").status_code == 303


def test_form_of_an_ended_session_changes_nothing(
    browser: Browser, key: str, project: Project
):
    token = browser.get("/dashboard/keys").text.split('csrf_token" value="')[1]
    Key.by_prefix(key[:16]).revoke()
    answer = browser.post("/dashboard/keys", csrf_token=token.split('"')[0])
    assert answer.location == "/dashboard/sign-in"
    assert len(Key.all_by_id(project)) == 1


def test_cookie_is_http_only_and_limited_to_the_dashboard(visitor: Browser):
    cookie = visitor.get("/dashboard/sign-in").headers["Set-Cookie"]
    flags = set(cookie.split("; ")[1:])
    assert flags == {"HttpOnly", "Path=/dashboard", "SameSite=Lax"}


def test_cookie_is_secure_over_https(app: Flask):
    visitor = Browser(app, base_url="https://shelter.example.org")
    assert "; Secure;" in visitor.get("/dashboard/sign-in").headers["Set-Cookie"]


def test_signing_in_begins_a_new_session(visitor: Browser, key: str):
    visitor.get("/dashboard/sign-in")
    before = visitor.client.get_cookie("petstore_session", path="/dashboard").value
    visitor.sign_in(key)
    with visitor.client.session_transaction("/dashboard") as session:
        assert [*session] == ["token"]
    visitor.client.set_cookie("petstore_session", before, path="/dashboard")
    assert visitor.get("/dashboard").status_code == 303


def test_another_process_accepts_the_session(app: Flask, browser: Browser):
    app.secret_key = None  # as in a process that has served no page yet
    assert browser.get("/dashboard").status_code == 200


def cookie_of(browser: Browser) -> str:
    return browser.client.get_cookie("petstore_session", path="/dashboard").value


def status_with(app: Flask, cookie: str) -> int:
    """Return the status that another browser gets with a copy of the cookie."""
    thief = Browser(app)
    thief.client.set_cookie("petstore_session", cookie, path="/dashboard")
    return thief.get("/dashboard").status_code


def test_signing_out_invalidates_copies_of_the_cookie(app: Flask, browser: Browser):
    cookie = cookie_of(browser)
    assert status_with(app, cookie) == 200
    browser.submit("/dashboard/sign-out", on="/dashboard")
    assert status_with(app, cookie) == 303


def test_signing_out_keeps_other_sessions_of_the_key(
    app: Flask, browser: Browser, key: str
):
    colleague = Browser(app)
    colleague.sign_in(key)
    browser.submit("/dashboard/sign-out", on="/dashboard")
    assert colleague.get("/dashboard").status_code == 200


def test_signing_in_again_ends_the_previous_session(
    app: Flask, browser: Browser, key: str
):
    before = cookie_of(browser)
    browser.sign_in(key)
    assert status_with(app, before) == 303
    assert status_with(app, cookie_of(browser)) == 200


def test_session_of_a_revoked_key_is_deleted(app: Flask, browser: Browser, key: str):
    Key.by_prefix(key[:16]).revoke()
    browser.get("/dashboard")
    assert not Session.select().exists()


def test_session_expires_after_twelve_hours_despite_use(browser: Browser, clock: Clock):
    clock.move(seconds=12 * 3600 - 1)
    browser.get("/dashboard/keys")  # signs the cookie again, with a CSRF token
    assert browser.get("/dashboard").status_code == 200
    clock.move(seconds=1)
    assert browser.get("/dashboard").status_code == 303


def test_cookie_signature_expires_after_twelve_hours(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
):
    signer, later = itsdangerous.TimestampSigner, 12 * 3600 + 1
    now = signer.get_timestamp(None)
    monkeypatch.setattr(signer, "get_timestamp", lambda _self: now + later)
    assert browser.get("/dashboard").status_code == 303


def test_expired_sessions_are_deleted_in_small_batches(key: str, clock: Clock):
    for _ in range(SWEPT_AT_ONCE + 5):
        Session.begin(Caller.of(key))
    clock.move(seconds=12 * 3600)
    Session.begin(Caller.of(key))
    assert Session.select().count() == 5 + 1
    Session.begin(Caller.of(key))
    assert Session.select().count() == 2


def test_page_queries_the_session_once(browser: Browser):
    browser.get("/dashboard/keys")
    with recorded() as statements:
        browser.get("/dashboard/keys")
    assert len([s for s in statements if "session" in s.gist.split()]) == 1
    assert len(statements) == 4


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_expiry_follows_the_database_clock(
    browser: Browser, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    days_later = clock.now_ms + 2 * MS_PER_DAY
    monkeypatch.setattr(service_clock, "now_ms", lambda: days_later)
    assert browser.get("/dashboard").status_code == 200


def test_api_sets_no_cookie_and_opens_no_session(app: Flask, key: str):
    answer = app.test_client().get("/v1/pets", headers={"Cookie": "petstore_session=x"})
    assert not {"Set-Cookie", "Vary"} & set(answer.headers.keys())
    assert app.secret_key is None
