"""A session names a key and ends with it on the very next request (decisions 9)."""

from collections.abc import Callable

import itsdangerous
import pytest
from flask import Flask

from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.clocks import Clock
from tests.dashboard.browser import Browser, words

ENDS = {
    "revoked": lambda key, _clock: key.revoke(),
    "rotated without grace": lambda key, _clock: key.rotate(0),
    "banned": lambda key, clock: Key.ban(key.id, clock.now_ms + 1),
    "expired": lambda key, clock: (
        Key.update(expires_ms=clock.now_ms).where(Key.id == key.id).execute()
    ),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_it_is_over_on_the_next_request_once_its_key_is(
    browser: Browser, key: str, clock: Clock, end: Callable[[Key, Clock], None]
):
    assert browser.get("/dashboard/keys").status_code == 200
    end(Key.by_prefix(key[:16]), clock)
    assert browser.get("/dashboard/keys").location == "/dashboard/sign-in"
    assert "Your session is over" in words(browser.get("/dashboard/sign-in"))


def test_it_goes_on_while_the_grace_of_its_key_lasts(
    browser: Browser, key: str, clock: Clock
):
    Key.by_prefix(key[:16]).rotate(60)
    clock.move(seconds=59)
    assert browser.get("/dashboard").status_code == 200
    clock.move(seconds=1)
    assert browser.get("/dashboard").status_code == 303


def test_a_form_does_nothing_once_the_session_is_over(
    browser: Browser, key: str, project: Project
):
    token = browser.get("/dashboard/keys").text.split('csrf_token" value="')[1]
    Key.by_prefix(key[:16]).revoke()
    answer = browser.post("/dashboard/keys", csrf_token=token.split('"')[0])
    assert answer.location == "/dashboard/sign-in"
    assert len(Key.listed(project)) == 1


def test_the_cookie_is_for_the_pages_and_out_of_reach(visitor: Browser):
    cookie = visitor.get("/dashboard/sign-in").headers["Set-Cookie"]
    flags = set(cookie.split("; ")[1:])
    assert flags == {"HttpOnly", "Path=/dashboard", "SameSite=Lax"}


def test_the_cookie_is_for_tls_alone_behind_tls(app: Flask):
    visitor = Browser(app, base_url="https://shelter.example.org")
    assert "; Secure;" in visitor.get("/dashboard/sign-in").headers["Set-Cookie"]


def test_signing_in_begins_a_new_session(visitor: Browser, key: str):
    visitor.get("/dashboard/sign-in")
    before = visitor.client.get_cookie("petstore_session", path="/dashboard").value
    visitor.sign_in(key)
    with visitor.client.session_transaction("/dashboard") as session:
        assert dict(session) == {"key": key[:16]}
    visitor.client.set_cookie("petstore_session", before, path="/dashboard")
    assert visitor.get("/dashboard").status_code == 303


def test_another_process_knows_the_session(app: Flask, browser: Browser):
    app.secret_key = None  # as in a process that has served no page yet
    assert browser.get("/dashboard").status_code == 200


def test_it_lasts_twelve_hours(browser: Browser, monkeypatch: pytest.MonkeyPatch):
    signer, later = itsdangerous.TimestampSigner, 12 * 3600 + 1
    now = signer.get_timestamp(None)
    monkeypatch.setattr(signer, "get_timestamp", lambda _self: now + later)
    assert browser.get("/dashboard").status_code == 303


def test_the_interface_sets_no_cookie_and_opens_no_session(app: Flask, key: str):
    answer = app.test_client().get("/v1/pets", headers={"Cookie": "petstore_session=x"})
    assert not {"Set-Cookie", "Vary"} & set(answer.headers.keys())
    assert app.secret_key is None
