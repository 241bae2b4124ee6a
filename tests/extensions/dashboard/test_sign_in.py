"""Signing in with an API key, failing to, and what a key may do then."""

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import quote, unquote

import pytest
from flask import Flask

from petstore.extensions.dashboard.limits import FAILED_SIGN_INS
from petstore.extensions.dashboard.models import Session
from petstore.models.callers import Caller
from petstore.models.credentials import new_key
from petstore.models.grants import PUBLIC, READ, WRITE, Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.browser import SIGN_IN, Browser, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

KEYS = "/dashboard/keys"


def test_valid_key_opens_the_home_page(visitor: Browser, key: str):
    for typed in (
        *(key, f" {key}\n", f"Bearer {key}", f"Authorization: Bearer {key}"),
        *(f"KEY={key}", f"export KEY='{key}'", f"“{key}”", f"<{key}>"),
        *(f"\ufeff\u200b{key}\u200b\xa0", f"X-API-Key: `{key}`"),
    ):
        answer = visitor.sign_in(typed)
        assert (answer.status_code, answer.location) == (303, "/dashboard")
    assert "Shelter" in visitor.read("/dashboard")


def test_wrong_key_is_refused_and_not_shown(visitor: Browser, project: Project):
    for wrong in ("", "x", "pet_", "<script>", "ключ", new_key()):
        answer = visitor.sign_in(wrong)
        assert answer.status_code == 401
        assert "API key is not valid" in words(answer)
        assert len(wrong) < 10 or wrong not in answer.text
    assert visitor.get("/dashboard").location == SIGN_IN


def test_banned_key_signs_in_and_is_told(visitor: Browser, key: str, clock: Clock):
    own, until_ms = Key.find_by_prefix(key[:16]), clock.now_ms + 60_000
    path, until = f"{KEYS}/{key[:16]}", "until 17 Mar 2027 12:01 UTC"
    Key.ban(own.id, until_ms)
    assert visitor.sign_in(key).status_code == 303
    assert f"key of this session from the API {until}" in visitor.read("/dashboard")
    for page in (path, KEYS):
        assert f"Banned {until}" in visitor.read(page)
    assert "The key works again" in visitor.follow(f"{path}/unban")
    Key.ban(own.id, until_ms)
    clock.move(seconds=60)
    assert "is banned from the API" not in visitor.read("/dashboard")


def test_pages_redirect_to_sign_in_without_a_session(visitor: Browser, key: str):
    visitor.options = {"headers": {"Authorization": f"Bearer {key}"}}
    for path in (
        *("", "/", "/animals", "/categories", "/orders", "/settings/domains"),
        *("/keys", "/keys/pet_0123456789ab", "/sessions"),
        *("/animals.csv", "/orders.csv", "/animals/import", "/animals/import/x"),
    ):
        answer = visitor.get(f"/dashboard{path}")
        place = f"?next=/dashboard{path}" if path.strip("/") else ""
        assert answer.status_code == 303
        assert answer.location == f"{SIGN_IN}{place}"


def test_signing_in_opens_the_page_that_was_asked_for(app: Flask, key: str):
    for page in (
        "/dashboard/animals?status=sold&name=%C3%84%2B%20%26&last=1",
        "/dashboard/keys/pet_0123456789ab",
    ):
        visitor = Browser(app)
        text = visitor.get(visitor.get(page).location).text
        [wanted] = re.findall('name="next" value="([^"]+)"', text)
        fields = {"next": unescape(wanted)}
        assert wanted in visitor.submit(SIGN_IN, key="wrong", **fields).text
        answer = visitor.submit(SIGN_IN, key=key, **fields)
        assert unquote(answer.location) == unquote(page)


def test_signing_in_leads_only_to_pages_here(app: Flask, visitor: Browser, key: str):
    for page in (
        *("//evil.example", "https://evil.example/dashboard", "/\\evil.example"),
        *("/dashboard@evil.example", "/dashboard.evil.example", "/dashboards"),
        *("/dashboard/\\evil", "\t//evil.example", "javascript:alert(1)", "/v1/pets"),
        *(" /dashboard/keys", "dashboard/keys", "/dashboard/keys?" + "x" * 2000, ""),
        *("/dashboard/keys\r\nX: y", "/dashboard/keys\0", "/dashboard/keys?\r\nX: y"),
        *("/dashboard/sign-out", "/dashboard/orders/1/complete", "/dashboard/nowhere"),
    ):
        answer = Browser(app).submit(SIGN_IN, key=key, next=page)
        assert answer.status_code == 303
        assert unquote(answer.location) in ("/dashboard", page)
        assert answer.location.isascii()
        assert answer.location.isprintable()
        if answer.location == "/dashboard":
            form = visitor.get(f"{SIGN_IN}?next={quote(page)}").text
            assert 'name="next"' not in form


def test_password_managers_find_a_user_name(visitor: Browser, key: str):
    page = visitor.get(SIGN_IN).text
    fields = re.findall('<input [^>]*autocomplete="([^"]+)"[^>]*>', page)
    assert fields == ["username", "current-password"]
    answer = visitor.submit(SIGN_IN, username="anything", key=key)
    assert answer.status_code == 303


PER_MINUTE = 10


def fail(browser: Browser, times: int) -> list[int]:
    return [browser.sign_in(new_key()).status_code for _ in range(times)]


@of_both_engines
def test_eleventh_failure_is_refused_and_no_key_that_works(visitor: Browser, key: str):
    assert fail(visitor, PER_MINUTE + 1) == [401] * PER_MINUTE + [429]
    answers = [visitor.sign_in(key).status_code for _ in range(PER_MINUTE + 2)]
    assert set(answers) == {303}  # nor are they counted
    assert visitor.get("/v1/pets").headers["X-RateLimit-Remaining"] == "59"


def test_wrong_key_waits_for_its_401(visitor: Browser, project: Project, clock: Clock):
    fail(visitor, PER_MINUTE)
    answer = visitor.sign_in(new_key())
    assert "wait 50 s. Error 429 Try again" in words(answer)
    assert f'href="{SIGN_IN}" data-wait-seconds="50"' in answer.text
    for _ in range(9):
        clock.move(seconds=60)
        assert set(fail(visitor, PER_MINUTE)) == {401}
    clock.move(seconds=60)
    answer = visitor.sign_in(new_key())  # the 101st of the day
    assert int(answer.headers["Retry-After"]) == 12 * 3600 - 610


def test_failures_are_counted_by_address_or_ipv6_network(app: Flask, project: Project):
    for one, other, status in (
        ("192.0.2.1", "192.0.2.2", 401),
        ("2001:db8::1", "2001:db8::2:1", 429),
        ("2001:db8:1::1", "2001:db8:1:1::1", 401),
    ):
        fail(Browser(app, address=one), PER_MINUTE)
        assert fail(Browser(app, address=other), 1) == [status]


MENU = "Home Animals Reservations Categories"
OWNERS = f"{MENU} Keys Sessions Domains Activity Requests Usage"


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
    Key.update(role=READ).where(Key.prefix == key[:16]).execute()
    for page in ("", "/animals", "/keys", "/settings/domains"):
        assert browser.get(f"/dashboard{page}").status_code == 403
    assert "Sign out Your key does not allow that" in browser.read("/dashboard")


def test_menu_offers_what_a_key_may(browser: Browser, writer: Browser, writer_key: str):
    assert f"{MENU} Home" in writer.read("/dashboard")
    assert f"{OWNERS} Home" in browser.read("/dashboard")
    answer = writer.get(KEYS)
    assert answer.status_code == 403
    told = "This key may only read and write animals, categories and orders."
    assert f"{told} This takes a full key." in words(answer)
    assert f"{MENU} Your key" in words(answer)
    Key.ban(Caller.find_by_key(writer_key).key_id, 2**42)
    page = writer.get("/dashboard")
    assert "banned the key of this session from the API" in words(page)
    assert KEYS not in page.text


def test_failed_sign_ins_of_a_site_are_limited_together(app: Flask):
    per_site = 10 * FAILED_SIGN_INS.per_minute
    statuses = [
        Browser(app, address=f"2001:db8:1:{number:x}::1").sign_in(new_key()).status_code
        for number in range(per_site + 1)
    ]
    assert statuses == [401] * per_site + [429]


def test_tenth_failure_of_an_address_is_a_warning(visitor: Browser, lines: Callable):
    for _ in range(12):  # those beyond the limit tell nothing
        visitor.sign_in("x")
    found = [line["level"] for line in lines() if line["event"] == "sign_in_failed"]
    assert found == 9 * ["INFO"] + ["WARNING"]
