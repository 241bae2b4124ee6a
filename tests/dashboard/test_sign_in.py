"""Signing in with an API key, and signing out."""

import re

import pytest
from flask import Flask

from petstore.models.credentials import _checksum as checksum_of
from petstore.models.credentials import new_key
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.clocks import Clock
from tests.dashboard.browser import Browser, words

UNKNOWN = pytest.param(new_key(), id="unknown")
PAGES = ("", "/", "/animals", "/orders", "/keys", "/keys/pet_0123456789ab")


def test_valid_key_opens_the_overview(visitor: Browser, key: str):
    answer = visitor.sign_in(key)
    assert (answer.status_code, answer.location) == (303, "/dashboard")
    assert "Shelter" in words(visitor.get("/dashboard"))


def test_whitespace_around_the_key_is_ignored(visitor: Browser, key: str):
    assert visitor.sign_in(f" {key}\n").status_code == 303


@pytest.mark.parametrize("wrong", ["", "x", "pet_", "<script>", "ключ", UNKNOWN])
def test_malformed_or_unknown_key_is_refused(
    visitor: Browser, project: Project, wrong: str
):
    answer = visitor.sign_in(wrong)
    assert answer.status_code == 401
    assert "API key is not valid" in words(answer)
    assert visitor.get("/dashboard").location == "/dashboard/sign-in"


def test_key_with_a_wrong_secret_is_refused(visitor: Browser, key: str):
    body = key[:16] + new_key()[16:46]
    assert visitor.sign_in(body + checksum_of(body)).status_code == 401


def test_a_revoked_key_is_refused(visitor: Browser, key: str):
    Key.by_prefix(key[:16]).revoke()
    assert visitor.sign_in(key).status_code == 401


def test_a_banned_key_is_refused_until_its_ban_ends(
    visitor: Browser, key: str, clock: Clock
):
    Key.ban(Key.by_prefix(key[:16]).id, clock.now_ms + 60_000)
    answer = visitor.sign_in(key)
    assert answer.status_code == 403
    assert "banned for a while" in words(answer)
    clock.move(seconds=60)
    assert visitor.sign_in(key).status_code == 303


@pytest.mark.parametrize("path", PAGES)
def test_pages_redirect_to_sign_in_without_a_session(visitor: Browser, path: str):
    answer = visitor.get(f"/dashboard{path}")
    assert (answer.status_code, answer.location) == (303, "/dashboard/sign-in")


def test_signing_out_ends_the_session(browser: Browser):
    answer = browser.submit("/dashboard/sign-out", on="/dashboard")
    assert answer.location == "/dashboard/sign-in"
    assert browser.get("/dashboard").status_code == 303


def test_pages_and_cookie_do_not_contain_the_key(browser: Browser, key: str):
    pages = [browser.get(f"/dashboard{path}").text for path in ("", "/keys")]
    cookie = browser.client.get_cookie("petstore_session", path="/dashboard")
    assert all(key[16:] not in text for text in [*pages, cookie.value])


def test_refused_key_is_not_echoed(visitor: Browser, project: Project):
    wrong = new_key()
    assert wrong not in visitor.sign_in(wrong).text


def test_form_has_fields_for_password_managers(visitor: Browser):
    page = visitor.get("/dashboard/sign-in").text
    [name] = re.findall('<input [^>]*autocomplete="username"[^>]*>', page)
    [secret] = re.findall('<input [^>]*autocomplete="current-password"[^>]*>', page)
    assert 'type="text"' in name
    assert " hidden" in name
    assert 'type="password"' in secret
    assert page.index(name) < page.index(secret)


def test_username_field_is_ignored(visitor: Browser, key: str):
    path = "/dashboard/sign-in"
    answer = visitor.submit(path, on=path, username="anything", key=key)
    assert answer.status_code == 303


def test_bearer_key_does_not_open_a_page(app: Flask, key: str):
    answer = app.test_client().get(
        "/dashboard", headers={"Authorization": f"Bearer {key}"}
    )
    assert answer.status_code == 303
