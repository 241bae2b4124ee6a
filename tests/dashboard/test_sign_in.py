"""Signing in with an API key, and signing out."""

import re
from html import unescape
from urllib.parse import quote, unquote

import pytest

from petstore.models.credentials import new_key
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.browser import SIGN_IN, Browser, words
from tests.harness.clocks import Clock

KEYS = "/dashboard/keys"
UNKNOWN = pytest.param(new_key(), id="unknown")


@pytest.mark.parametrize("typed", ["{}", " {}\n"])
def test_valid_key_opens_the_overview(visitor: Browser, key: str, typed: str):
    answer = visitor.sign_in(typed.format(key))
    assert (answer.status_code, answer.location) == (303, "/dashboard")
    assert "Shelter" in visitor.read("/dashboard")


@pytest.mark.parametrize("wrong", ["", "x", "pet_", "<script>", "ключ", UNKNOWN])
def test_malformed_or_unknown_key_is_refused_and_not_shown(
    visitor: Browser, project: Project, wrong: str
):
    answer = visitor.sign_in(wrong)
    assert answer.status_code == 401
    assert "API key is not valid" in words(answer)
    assert len(wrong) < 10 or wrong not in answer.text
    assert visitor.get("/dashboard").location == SIGN_IN


def test_a_banned_key_signs_in_and_the_pages_say_until_when(
    visitor: Browser, key: str, clock: Clock
):
    Key.ban(Key.by_prefix(key[:16]).id, clock.now_ms + 60_000)
    assert visitor.sign_in(key).status_code == 303
    told = "is banned from the API until 17 Mar 2027 12:01 UTC"
    assert told in visitor.read("/dashboard")
    assert "Banned until 17 Mar 2027 12:01 UTC" in visitor.read(f"{KEYS}/{key[:16]}")
    assert "Banned until 17 Mar 2027 12:01 UTC" in visitor.read(KEYS)
    clock.move(seconds=60)
    assert told not in visitor.read("/dashboard")


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/animals", "/categories", "/orders", "/settings/domains"),
        *("/keys", "/keys/pet_0123456789ab", "/sessions"),
    ],
)
def test_pages_redirect_to_sign_in_without_a_session(visitor: Browser, path: str):
    answer = visitor.get(f"/dashboard{path}")
    place = f"?next=/dashboard{path}" if path.strip("/") else ""
    assert answer.status_code == 303
    assert answer.location == f"{SIGN_IN}{place}"


@pytest.mark.parametrize(
    "page",
    [
        "/dashboard/animals?status=sold&name=%C3%84%2B%20%26&last=1",
        "/dashboard/keys/pet_0123456789ab",
    ],
)
def test_signing_in_opens_the_page_that_was_asked_for(
    visitor: Browser, key: str, page: str
):
    form = visitor.get(visitor.get(page).location).text
    [wanted] = re.findall('name="next" value="([^"]+)"', form)
    fields = {"next": unescape(wanted)}
    refused = visitor.submit(SIGN_IN, key="wrong", **fields)
    assert wanted in refused.text
    answer = visitor.submit(SIGN_IN, key=key, **fields)
    assert unquote(answer.location) == unquote(page)


@pytest.mark.parametrize(
    "page",
    [
        *("//evil.example", "https://evil.example/dashboard", "/\\evil.example"),
        *("/dashboard@evil.example", "/dashboard.evil.example", "/dashboards"),
        *("/dashboard/\\evil", "\t//evil.example", "javascript:alert(1)", "/v1/pets"),
        *(" /dashboard/keys", "dashboard/keys", "/dashboard/keys?" + "x" * 2000, ""),
        *("/dashboard/keys\r\nX: y", "/dashboard/keys\0", "/dashboard/keys?\r\nX: y"),
        *("/dashboard/sign-out", "/dashboard/orders/1/complete", "/dashboard/nowhere"),
    ],
)
def test_signing_in_leads_only_to_pages_of_the_dashboard(
    visitor: Browser, key: str, page: str
):
    answer = visitor.submit(SIGN_IN, key=key, next=page)
    assert answer.status_code == 303
    assert unquote(answer.location) in ("/dashboard", page)
    assert answer.location.isascii()
    assert answer.location.isprintable()
    if answer.location == "/dashboard":
        form = visitor.get(f"{SIGN_IN}?next={quote(page)}").text
        assert 'name="next"' not in form


def test_pages_and_cookie_do_not_contain_the_key(browser: Browser, key: str):
    pages = [browser.get(f"/dashboard{path}").text for path in ("", "/keys")]
    assert all(key[16:] not in text for text in [*pages, browser.cookie])


def test_password_managers_find_a_user_name_which_is_ignored(
    visitor: Browser, key: str
):
    page = visitor.get(SIGN_IN).text
    [name] = re.findall('<input [^>]*autocomplete="username"[^>]*>', page)
    [secret] = re.findall('<input [^>]*autocomplete="current-password"[^>]*>', page)
    assert 'type="text"' in name
    assert " hidden" in name
    assert 'type="password"' in secret
    assert page.index(name) < page.index(secret)
    answer = visitor.submit(SIGN_IN, username="anything", key=key)
    assert answer.status_code == 303


def test_bearer_key_does_not_open_a_page(visitor: Browser, key: str):
    visitor.options = {"headers": {"Authorization": f"Bearer {key}"}}
    assert visitor.get("/dashboard").status_code == 303
