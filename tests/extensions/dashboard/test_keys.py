"""/dashboard/keys: listing, issuing, changing, rotating, revoking, unbanning keys."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from flask import Flask
from werkzeug.test import TestResponse

from petstore.clock import MS_PER_DAY
from petstore.models.callers import Caller
from petstore.models.grants import Grant
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.web.limiter import limiter_of
from tests.harness.browser import Browser, words
from tests.harness.clocks import START_MS, Clock
from tests.harness.databases import of_both_engines
from tests.harness.limits import fill_up_hour

KEYS = "/dashboard/keys"
TABLES = yaml.safe_load(Path(__file__).with_name("keys.yaml").read_text())
SHOWN = re.compile(r"pet_[0-9A-Za-z]{48}")
LIMITS = {"per_minute": "5", "per_day": "1000"}
SHOP = "https://shop.example"
ENDED = "is revoked, expired or rotated already"


@pytest.fixture
def other(project: Project) -> Key:
    """A second key of the project, which is not the session's."""
    return Key.find_by_prefix(Key.issue(project, label="Website")[:16])


def act(browser: Browser, key: Key, deed: str, /, **fields: str) -> TestResponse:
    return browser.submit(f"{KEYS}/{key.prefix}/{deed}", **fields)


@of_both_engines
def test_an_issued_key_works_and_is_shown_only_once(browser: Browser, project: Project):
    page = browser.submit(KEYS, label="Website", days="30")
    [new] = set(SHOWN.findall(page.text))
    assert Caller.find_by_key(new).project_id == project.id
    issued = Key.find_by_prefix(new[:16])
    assert (issued.label, issued.expires_ms) == ("Website", START_MS + 30 * MS_PER_DAY)
    for path in (KEYS, f"{KEYS}/{new[:16]}"):
        text = browser.get(path).text
        assert new[:16] in text
        assert new[16:] not in text


def test_key_against_the_rules_is_not_issued(browser: Browser, project: Project):
    for fields, fault in TABLES["new"]:
        page = browser.submit(f"{KEYS}?kind=program", **{"label": "Kept"} | fields)
        assert page.status_code == 400
        assert fault in words(page)
        assert f'value="{fields.get("label", "Kept")}"' in page.text
        if fields.get("role") == "read":
            assert 'value="read" required checked' in page.text
    assert len(Key.all_by_id(project)) == 1


def test_list_has_states(browser: Browser, other: Key, project: Project, clock: Clock):
    Key.issue(project, label="Short", expires_ms=clock.now_ms + 1)
    for number in range(25):
        Key.issue(project, label=f"Key {number}.")
    Key.ban(other.id, clock.now_ms + 60_000)
    clock.move(seconds=1)
    working = browser.read(KEYS)
    labels = r"Key 24\. .* Key 0\. .* Website .* Banned .* No label pet_\w+ Your key"
    assert re.search(f"Ended .* {labels} .* Active", working)
    assert working.count("Your key") == 1
    assert "Short" not in working
    ended = browser.read(f"{KEYS}?status=ended")
    assert re.search("Short .* Expired", ended)
    assert "Website" not in ended


def test_keys_are_limited(browser: Browser, app: Flask, other: Key, project: Project):
    fill_up_hour(limiter_of(app), project, leave=1)
    assert SHOWN.search(browser.submit(KEYS).text)
    before = Key.select().count()
    for path in (KEYS, f"{KEYS}/{other.prefix}/rotate"):
        said = browser.follow(path)
        assert "has issued 100 keys in this hour. Wait for the next hour" in said
    assert Key.select().count() == before


def test_rotation_shows_the_successor(browser: Browser, other: Key):
    for grace in ("x", "-1", "31536001"):
        assert act(browser, other, "rotate", grace=grace).status_code == 400
    page = act(browser, other, "rotate", grace="3600")
    successor = SHOWN.search(page.text)[0]
    assert Caller.find_by_key(successor).project_id == other.project_id
    assert "stays active until <time" in page.text
    assert Key.find_by_prefix(other.prefix).state == "retiring"
    assert ENDED in words(act(browser, other, "rotate", grace="3600"))
    page = act(browser, Key.find_by_prefix(successor[:16]), "rotate", grace="0")
    assert "has ended" in page.text
    assert Key.find_by_prefix(successor[:16]).state == "retired"


def test_revoked_key_is_shown_unchanged(browser: Browser, other: Key, clock: Clock):
    Key.update(last_used_ms=clock.now_ms).where(Key.id == other.id).execute()
    clock.move(seconds=60)
    answer = act(browser, other, "revoke")
    assert "Revoked the key" in browser.read(answer.location)
    assert Caller.find_by_prefix(other.prefix) is None
    path = f"{KEYS}/{other.prefix}"
    for page in (f"{KEYS}?status=ended", path):
        assert "12:01 UTC" in browser.read(page)
        assert "No end" not in browser.read(page)
    assert "Save" not in browser.read(path)
    assert ENDED in browser.follow(path, label="x")
    assert Key.find_by_prefix(other.prefix).label == "Website"


def test_form_says_what_each_kind_of_key_may_do(browser: Browser, project: Project):
    assert browser.read(KEYS) == browser.read(f"{KEYS}?kind=staff")
    titles = " ".join(title for title, _ in TABLES["kinds"].values())
    for kind, (_, roles) in TABLES["kinds"].items():
        path = f"{KEYS}?kind={kind}"
        assert titles in browser.read(path)
        offered = re.findall('name="role" value="([a-z]+)"', browser.get(path).text)
        assert offered == [*roles]
        for role, said in roles.items():
            assert said in browser.read(path)
            limits = LIMITS if role in ("public", "read") else {}
            page = browser.submit(path, role=role, **limits)
            assert said in words(page)
            caller = Caller.find_by_key(SHOWN.search(page.text)[0])
            assert (caller.role, caller.key_per_day) == (role, 1000 if limits else None)
            shown = browser.read(f"{KEYS}/{caller.prefix}")
            assert re.search(f"Role {role.capitalize()} .*{said}", shown)
            assert f"{caller.prefix} {role.capitalize()} " in browser.read(KEYS)


def test_a_new_key_stands_with_what_it_is_first_used_for(browser: Browser):
    staff, program = "Hand the key over", "Use the key in a program"
    for kind, role, use in (
        *(("staff", "write", staff), ("owner", "full", staff)),
        *(("program", "write", program), ("program", "read", program)),
        ("page", "public", "Your web page"),
    ):
        limits = LIMITS if role == "public" else {}
        page = browser.submit(f"{KEYS}?kind={kind}", role=role, **limits)
        shown, key = words(page), SHOWN.search(page.text)[0]
        for title, text in (
            (staff, f'click "Sign in": {key}'),
            (program, f"export API=http://localhost/v1 KEY={key}"),
            ("Your web page", f'const KEY = "{key}";'),
        ):
            assert (title in shown) == (text in shown) == (title == use)


@of_both_engines
def test_key_changes_at_once(browser: Browser, client_of: Callable, project: Project):
    key = Key.issue(project, Grant("public", 5, 50, (SHOP,)), label="Page")
    path, client = f"{KEYS}/{key[:16]}", client_of(key)
    shown = browser.get(path).text
    for name, value in (("label", "Page"), ("per_day", "50"), ("origins", SHOP)):
        assert re.search(f'name="{name}" type="text"\\s+value="{value}"', shown)
    origins = "https://A.example,\n http://localhost:8080 "
    said = browser.follow(path, label="Site", origins=origins, **LIMITS)
    assert "Saved the key." in said
    kept = "https://a.example http://localhost:8080"
    assert f"Its own limits 5 a minute, 1,000 a day Web pages {kept} Created" in said
    assert f"Public 5 a minute, 1,000 a day {kept}" in browser.read(KEYS)
    assert Caller.find_by_key(key).role == "public"
    assert client.get("/v1/pets", headers={"Origin": SHOP}).status_code == 403
    assert client.get("/v1/pets").headers["X-RateLimit-Limit"] == "5"
    assert "Key changed Site" in browser.read("/dashboard/activity")


def test_key_that_is_saved_as_it_is_causes_no_event(browser: Browser, key: str):
    path = f"{KEYS}/{key[:16]}"
    for said in ("Saved the key.", "Nothing has changed."):
        assert said in browser.follow(path, label="Till")
    assert browser.read("/dashboard/activity").count("Key changed") == 1


def test_address_of_a_page_gives_its_origin_and_says_so(browser: Browser):
    fields = {**LIMITS, "origins": "https://shelter.example/animals/"}
    said = "not only the one given: https://shelter.example."
    page = browser.submit(f"{KEYS}?kind=page", role="public", **fields)
    assert said in words(page)
    path = f"{KEYS}/{SHOWN.search(page.text)[0][:16]}"
    assert "Web pages https://shelter.example Created" in browser.read(path)
    assert f"Saved the key. All pages of a website may use the key, {said}" in (
        browser.follow(path, label="Site", **fields)
    )


def test_change_against_the_rules_is_shown_again(browser: Browser, project: Project):
    key = Key.issue(project, Grant("public", 5, 50), label="Kept")[:16]
    for fields, fault in TABLES["changed"]:
        answer = browser.submit(f"{KEYS}/{key}", **fields)
        assert answer.status_code == 400
        assert fault in words(answer)
        for name, text in fields.items():
            shown = rf'name="{name}" type="text"\s+value="{text}"'
            assert re.search(shown, answer.text)
    found = Key.find_by_prefix(key)
    assert (found.label, found.per_day) == ("Kept", 50)


def test_label_changes_though_limits_are_too_high(browser: Browser, project: Project):
    key = Key.issue(project, Grant("public", 200, 5000))[:16]
    project.change_plan(Plan("free"))
    for per_day, status in (("5000", 303), ("5001", 400)):
        fields = {"label": "Website", "per_minute": "200", "per_day": per_day}
        assert browser.submit(f"{KEYS}/{key}", **fields).status_code == status
    assert Key.find_by_prefix(key).label == "Website"
