"""Sessions of the dashboard: their cookies, and when they end."""

import random
from collections.abc import Callable

import itsdangerous
import pytest
from flask import Flask

from petstore import clock as service_clock
from petstore.clock import MS_PER_DAY
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.storage import db
from tests.harness.browser import SIGN_IN, Browser
from tests.harness.clocks import Clock
from tests.harness.databases import locked, of_both_engines

ENDS = {
    "revoked": lambda key, _clock: key.revoke(),
    "rotated without grace": lambda key, _clock: key.rotate(0),
    "expired": lambda key, clock: (
        Key.update(expires_ms=clock.now_ms).where(Key.id == key.id).execute()
    ),
}


def status_with(app: Flask, cookie: str) -> int:
    """Return the status that another browser gets with a copy of the cookie."""
    thief = Browser(app)
    thief.cookie = cookie
    return thief.get("/dashboard").status_code


@of_both_engines
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_session_ends_with_its_key(
    browser: Browser, key: str, clock: Clock, end: Callable[[Key, Clock], None]
):
    assert browser.get("/dashboard/keys").status_code == 200
    end(Key.by_prefix(key[:16]), clock)
    assert browser.get("/dashboard/keys").location.startswith(f"{SIGN_IN}?")
    assert "Your session is over" in browser.read(SIGN_IN)


def test_a_ban_ends_no_session_and_is_ended_there(
    browser: Browser, key: str, clock: Clock
):
    Key.ban(Key.by_prefix(key[:16]).id, clock.now_ms + 60_000)
    page = f"/dashboard/keys/{key[:16]}"
    assert "the key works again" in browser.follow(f"{page}/unban")
    assert Key.by_prefix(key[:16]).state == "active"


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
    Key.by_prefix(key[:16]).revoke()
    answer = browser.submit("/dashboard/keys")
    assert answer.location == f"{SIGN_IN}?next=/dashboard/keys"
    assert len(Key.all_by_id(project)) == 1


@pytest.mark.parametrize(
    ("host", "name", "flags"),
    [
        ("http://localhost", "petstore_session", {"Path=/dashboard"}),
        ("https://a.example", "__Host-petstore_session", {"Path=/", "Secure"}),
    ],
)
def test_cookie_is_protected(
    app: Flask, key: str, host: str, name: str, flags: set[str]
):
    browser = Browser(app, key, base_url=host)
    assert browser.get("/dashboard").status_code == 200
    cookie, *found = browser.sign_in(key).headers["Set-Cookie"].split("; ")
    assert cookie.partition("=")[0] == name
    assert set(found) == {"HttpOnly", "SameSite=Lax"} | flags


def test_cookie_that_another_host_may_have_set_opens_no_page_over_tls(
    app: Flask, browser: Browser
):
    name, url = "petstore_session", "https://localhost"
    over_tls = Browser(app, base_url=url)
    over_tls.client.set_cookie(name, browser.cookie, domain="localhost", path="/")
    assert over_tls.get("/dashboard").status_code == 303


def test_messages_that_no_page_has_shown_fit_into_the_cookie(browser: Browser):
    page, chars = "/dashboard/animals", random.Random(1).choices
    for _ in range(5):
        name = "".join(map(chr, chars(range(0x10000, 0x10FFFF), k=200)))
        fields = {"name": name, "categoryId": "1"}
        answer = browser.submit(page, status="available", **fields)
        assert len(answer.headers["Set-Cookie"]) < 4096
    assert browser.read(page).count("is added, with the id 5") == 1


def test_signing_in_begins_a_new_session(visitor: Browser, key: str):
    assert "Set-Cookie" not in visitor.get(SIGN_IN).headers
    visitor.sign_in(key)
    with visitor.client.session_transaction("/dashboard") as session:
        assert {*session} == {"token", "project"}


def test_signing_out_ends_this_session_for_every_copy_of_the_cookie(
    app: Flask, browser: Browser, key: str
):
    colleague, cookie = Browser(app, key), browser.cookie
    assert status_with(app, cookie) == 200
    answer = browser.submit("/dashboard/sign-out")
    assert answer.location == SIGN_IN
    assert status_with(app, cookie) == 303
    assert colleague.get("/dashboard").status_code == 200


def test_signing_in_again_ends_the_previous_session(
    app: Flask, browser: Browser, key: str
):
    before = browser.cookie
    browser.sign_in(key)
    assert status_with(app, before) == 303
    assert status_with(app, browser.cookie) == 200


@of_both_engines
def test_session_expires_after_an_hour_without_a_request(
    browser: Browser, clock: Clock
):
    for _ in range(2):
        clock.move(seconds=3600 - 1)
        assert browser.get("/dashboard").status_code == 200
    clock.move(seconds=3600)
    assert browser.get("/dashboard").status_code == 303
    assert "after an hour without a request" in browser.read(SIGN_IN)


@of_both_engines
def test_session_expires_after_twelve_hours_despite_use(browser: Browser, clock: Clock):
    for seconds in [1800] * 23 + [1799]:
        clock.move(seconds=seconds)
        browser.get("/dashboard/keys")
        assert browser.get("/dashboard").status_code == 200
    clock.move(seconds=1)
    assert browser.get("/dashboard").status_code == 303


def test_page_opens_while_its_session_cannot_be_written(
    request: pytest.FixtureRequest, clock: Clock, set_limits: Callable[..., None]
):
    set_limits(busy_seconds=0.01)
    browser = request.getfixturevalue("browser")
    clock.move(seconds=3000)
    with locked(str(db.file)):
        assert browser.get("/dashboard/keys").status_code == 200
    clock.move(seconds=600)
    assert browser.get("/dashboard/keys").status_code == 303


@pytest.mark.parametrize("seconds", [-60, 12 * 3600 + 1])
def test_clock_of_the_host_that_reads_a_cookie_ends_no_session(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, seconds: int
):
    signer = itsdangerous.TimestampSigner
    now = signer.get_timestamp(None)
    monkeypatch.setattr(signer, "get_timestamp", lambda _self: now + seconds)
    assert browser.get("/dashboard").status_code == 200


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_sessions_and_keys_end_by_the_database_clock_alone(
    app: Flask,
    browser: Browser,
    key: str,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
):
    Key.update(expires_ms=clock.now_ms + MS_PER_DAY).execute()
    days_later = clock.now_ms + 2 * MS_PER_DAY
    monkeypatch.setattr(service_clock, "now_ms", lambda: days_later)
    sent = {"Authorization": f"Bearer {key}"}
    assert browser.get("/dashboard").status_code == 200
    assert app.test_client().get("/v1/pets", headers=sent).status_code == 200
    assert "This session" in browser.read("/dashboard/sessions")
    monkeypatch.setattr(service_clock, "now_ms", lambda: clock.now_ms - MS_PER_DAY)
    clock.move(seconds=3600)
    assert browser.get("/dashboard").status_code == 303
    clock.move(days=1)
    assert app.test_client().get("/v1/pets", headers=sent).status_code == 401


def test_api_sets_no_cookie_and_opens_no_session(app: Flask, key: str):
    for scheme, name in (("http", ""), ("https", "__Host-")):
        headers = {"Cookie": f"{name}petstore_session=x"}
        url = f"{scheme}://localhost"
        for path in ("/v1/pets", "/docs", "/healthz", "/dashboard/static/page.css"):
            with app.test_client().get(path, headers=headers, base_url=url) as answer:
                assert "Set-Cookie" not in answer.headers
                assert "Cookie" not in answer.headers.get("Vary", "")
    assert app.secret_key is None
