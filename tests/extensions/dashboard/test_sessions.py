"""Sessions of the dashboard: their cookies, what signs them, and how they end."""

import random
import re
import time
from collections.abc import Callable

import itsdangerous
import pytest
from flask import Flask
from flask.sessions import SecureCookieSessionInterface
from flask.testing import FlaskClient

from petstore import clock as service_clock
from petstore import timeouts
from petstore.clock import MS_PER_DAY
from petstore.extensions.dashboard.models import MOST_LISTED, Session, seen
from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.models.secrets import Secret
from petstore.storage import db
from tests.harness import statements
from tests.harness.browser import SIGN_IN, Browser
from tests.harness.clocks import Clock
from tests.harness.databases import locked, of_both_engines
from tests.harness.servers import ROOT


def status_with(app: Flask, cookie: str) -> int:
    """Return the status that another browser gets with a copy of the cookie."""
    thief = Browser(app)
    thief.cookie = cookie
    return thief.get("/dashboard").status_code


@of_both_engines
def test_session_ends_with_its_key(app: Flask, project: Project, clock: Clock):
    end = Key.update(expires_ms=clock.now_ms)
    for ends in (
        lambda key: key.revoke(),
        lambda key: key.rotate(0),
        lambda key: end.where(Key.id == key.id).execute(),
    ):
        key = Key.issue(project)
        browser = Browser(app, key)
        assert len(Session.open_by_name(project.id)) == 1
        ends(Key.find_by_prefix(key[:16]))
        assert Session.open_by_name(project.id) == {}
        assert browser.submit("/dashboard/keys").location.startswith(f"{SIGN_IN}?")
        assert "Your session is over" in browser.read(SIGN_IN)


def test_cookie_is_protected(app: Flask, browser: Browser, key: str):
    for host, name, flags in (
        ("http://localhost", "petstore_session", {"Path=/dashboard"}),
        ("https://localhost", "__Host-petstore_session", {"Path=/", "Secure"}),
        (
            "https://localhost:8443",
            "__Host-petstore_session_8443",
            {"Path=/", "Secure"},
        ),
    ):
        other = Browser(app, base_url=host)
        # As another host may have set it, which is nothing over TLS.
        plain = ("petstore_session", browser.cookie)
        other.client.set_cookie(*plain, domain="localhost", path="/")
        status = other.get("/dashboard").status_code
        assert status == (303 if "Secure" in flags else 200)
        cookie, *found = other.sign_in(key).headers["Set-Cookie"].split("; ")
        assert cookie.partition("=")[0] == name
        assert set(found) == {"HttpOnly", "SameSite=Lax"} | flags


def test_two_installations_on_one_host_do_not_sign_each_other_out(
    app: Flask, key: str, browser: Browser
):
    other = Browser(app, base_url="http://localhost:8001")
    name = other.sign_in(key).headers["Set-Cookie"].partition("=")[0]
    assert name == "petstore_session_8001"
    other.client.set_cookie("petstore_session", "of another one", path="/dashboard")
    assert "Sign out" in other.read("/dashboard")


def test_messages_that_no_page_has_shown_fit_into_the_cookie(browser: Browser):
    page, chars = "/dashboard/animals", random.Random(1).choices
    for _ in range(5):
        name = "".join(map(chr, chars(range(0x10000, 0x10FFFF), k=200)))
        fields = {"name": name, "category": "Dogs"}
        answer = browser.submit(page, status="available", **fields)
        assert len(answer.headers["Set-Cookie"]) < 4096
    assert browser.read(page).count("(no. 5).") == 1


def test_signing_out_ends_copies_of_the_cookie(app: Flask, browser: Browser, key: str):
    colleague, first = Browser(app, key), browser.cookie
    assert status_with(app, first) == 200
    browser.sign_in(key)
    second = browser.cookie
    assert [status_with(app, cookie) for cookie in (first, second)] == [303, 200]
    assert browser.submit("/dashboard/sign-out").location == SIGN_IN
    assert status_with(app, second) == 303
    assert colleague.get("/dashboard").status_code == 200


@of_both_engines
def test_session_ends_after_an_hour_or_twelve(browser: Browser, key: str, clock: Clock):
    clock.move(seconds=3600)
    assert Session.open_by_name(Key.find_by_prefix(key[:16]).project_id) == {}
    assert browser.get("/dashboard").status_code == 303
    assert "after an hour without a request" in browser.read(SIGN_IN)
    browser.sign_in(key)
    for seconds in [3599] * 12 + [11]:
        clock.move(seconds=seconds)
        assert browser.get("/dashboard").status_code == 200
        seen.flush()
    clock.move(seconds=1)
    assert browser.get("/dashboard").status_code == 303


@of_both_engines
def test_signing_in_and_opening_a_page_is_a_use_of_the_key(
    browser: Browser, key: str, clock: Clock
):
    for seconds in (0, 600):
        clock.move(seconds=seconds)
        browser.get("/dashboard")
        seen.flush()
        own = Key.find_by_prefix(key[:16])
        assert own.last_used_ms == clock.now_ms


def test_page_waits_for_no_write_of_its_session(browser: Browser, clock: Clock):
    clock.move(seconds=3000)
    started = time.monotonic()
    with locked(str(db.file)):
        assert browser.get("/dashboard/keys").status_code == 200
    assert time.monotonic() - started < timeouts.LIMITS.busy_seconds / 2
    clock.move(seconds=600)
    seen.flush()  # however late
    assert browser.get("/dashboard/keys").status_code == 200
    clock.move(seconds=3000)
    assert browser.get("/dashboard/keys").status_code == 303


def test_sign_out_that_fails_can_be_tried_again(
    request: pytest.FixtureRequest, set_limits: Callable[..., None]
):
    set_limits(busy_seconds=0.01)
    browser = request.getfixturevalue("browser")
    with locked(str(db.file)):
        assert browser.submit("/dashboard/sign-out").status_code == 503
    assert Session.select().count() == 1
    browser.submit("/dashboard/sign-out")
    assert not Session.select().exists()


def test_hosts_clock_ends_no_session(browser: Browser, monkeypatch: pytest.MonkeyPatch):
    signer = itsdangerous.TimestampSigner
    now = signer.get_timestamp(None)
    for seconds in (-60, 12 * 3600 + 1):
        there = now + seconds
        monkeypatch.setattr(signer, "get_timestamp", lambda _self, at=there: at)
        assert browser.get("/dashboard").status_code == 200


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_sessions_and_keys_end_by_the_database_clock_alone(
    browser: Browser, client: FlaskClient, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    Key.update(expires_ms=clock.now_ms + MS_PER_DAY).execute()
    days_later = clock.now_ms + 2 * MS_PER_DAY
    monkeypatch.setattr(service_clock, "now_ms", lambda: days_later)
    assert browser.get("/dashboard").status_code == 200
    assert client.get("/v1/pets").status_code == 200
    assert "This session" in browser.read("/dashboard/sessions")
    monkeypatch.setattr(service_clock, "now_ms", lambda: clock.now_ms - MS_PER_DAY)
    clock.move(seconds=3600)
    assert browser.get("/dashboard").status_code == 303
    clock.move(days=1)
    assert client.get("/v1/pets").status_code == 401


def test_api_sets_no_cookie_and_opens_no_session(app: Flask, key: str):
    for scheme, name in (("http", ""), ("https", "__Host-")):
        headers = {"Cookie": f"{name}petstore_session=x"}
        url = f"{scheme}://localhost"
        for path in ("/v1/pets", "/docs", "/healthz", "/dashboard/static/page.css"):
            with app.test_client().get(path, headers=headers, base_url=url) as answer:
                assert "Set-Cookie" not in answer.headers
                assert "Cookie" not in answer.headers.get("Vary", "")
    assert app.secret_key is None


@pytest.fixture(params=[None, "chosen by the operator"])
def chosen(request: pytest.FixtureRequest, environ: dict[str, str]) -> str | None:
    if request.param:
        environ["SECRET_KEY"] = request.param
    return request.param


def forged(browser: Browser, secret: str, token: str) -> int:
    """Return the status for a cookie with the token, signed with the secret."""
    signer = Flask("forger")
    signer.secret_key = secret
    signing = SecureCookieSessionInterface().get_signing_serializer(signer)
    browser.cookie = signing.dumps({"token": token})
    return browser.get("/dashboard").status_code


def test_only_secret_and_token_open(chosen: str | None, visitor: Browser, key: str):
    assert "Set-Cookie" not in visitor.get("/dashboard/sign-in").headers
    assert Secret.select().count() == (0 if chosen else 1)
    secret, token = (
        chosen or Secret.shared("sessions"),
        Session.begin(Caller.find_by_key(key)),
    )
    [session] = Session.select()
    assert forged(visitor, secret, token) == 200
    for wrong in ("guessed", "None"):
        assert forged(visitor, wrong, token) == 303
    for known in (session.digest, key[:16], ""):
        assert forged(visitor, secret, known) == 303


@of_both_engines
def test_secret_is_made_once_and_again_after_it_is_deleted(app: Flask):
    made = Secret.shared("sessions")
    assert len(made) > 40
    with statements.recorded() as seen:
        assert Secret.shared("sessions") == made
    assert {statement.gist for statement in seen} == {"SELECT secret"}
    page = (ROOT / "SECURITY.md").read_text()
    [statement] = re.findall("`(DELETE FROM secret [^`]+)`", page)
    db.execute_sql(statement)
    assert Secret.shared("sessions") != made


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
    for name, each in Session.open_by_name(project.id).items():
        if each.label == "Website":
            return f"{SESSIONS}/{name}/end"
    raise LookupError


@pytest.mark.usefixtures("other")
def test_list_is_harmless(browser: Browser, key: str, clock: Clock, project: Project):
    clock.move(seconds=120)
    browser.read(SESSIONS)
    seen.flush()
    shown = browser.read(SESSIONS)
    own = f"No label This session {key[:16]} {MINUTE}00 UTC {MINUTE}03 UTC"
    its = f"Website pet_[0-9A-Za-z]{{12}} {MINUTE}01 UTC {MINUTE}01 UTC End"
    assert re.search(f"{own} {its}", shown)
    assert shown.count("This session") == 1
    for session in Session.select():
        assert session.digest not in browser.get(SESSIONS).text
        assert Session.find_caller(session.digest) is None


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
    token = Session.begin(Caller.find_by_prefix(rival_key.prefix))
    same_key = Browser(app, key)
    said = browser.follow(f"{SESSIONS}/end-others")
    assert "All other sessions are ended." in said
    assert "End all others" not in said
    assert [status(each) for each in (other, same_key, browser)] == [303, 303, 200]
    caller, project = Session.find_caller(token)
    assert (caller.prefix, project) == (rival_key.prefix, rival_key.project)


@of_both_engines
def test_of_many_sessions_the_last_seen_are_listed_and_all_end_in_batches(
    browser: Browser, key: str, project: Project, clock: Clock, set_limits: Callable
):
    set_limits(deleted_rows=50)
    for _ in range(MOST_LISTED + 5):
        Session.begin(Caller.find_by_key(key))
    clock.move(seconds=60)
    assert "These are the 100 that were seen last" in browser.read(SESSIONS)
    assert len(Session.open_by_name(project.id)) == MOST_LISTED
    browser.submit(f"{SESSIONS}/end-others")
    assert Session.select().count() == 1
