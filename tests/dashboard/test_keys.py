"""/dashboard/keys: listing, issuing, rotating, revoking and unbanning keys."""

import re
from collections.abc import Callable

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from petstore.clock import MS_PER_DAY
from petstore.models.callers import Caller
from petstore.models.grants import Grant
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.web.limits import limiter_of
from tests.harness.browser import Browser, words
from tests.harness.clocks import START_MS, Clock
from tests.harness.databases import of_both_engines
from tests.harness.limits import fill_up_hour, fill_up_keys

KEYS = "/dashboard/keys"
SHOWN = re.compile(r"pet_[0-9A-Za-z]{48}")


@pytest.fixture
def other(project: Project) -> Key:
    """A second key of the project, which is not the session's."""
    return Key.by_prefix(Key.issue(project, label="Website")[:16])


def act(browser: Browser, key: Key, deed: str, /, **fields: str) -> TestResponse:
    return browser.submit(f"{KEYS}/{key.prefix}/{deed}", **fields)


@of_both_engines
def test_an_issued_key_is_shown_and_works(browser: Browser, project: Project):
    page = browser.submit(KEYS, label="Website", days="30")
    [new] = set(SHOWN.findall(page.text))
    caller = Caller.of(new)
    assert caller.project_id == project.id
    issued = Key.by_prefix(new[:16])
    assert (issued.label, issued.expires_ms) == ("Website", START_MS + 30 * MS_PER_DAY)


def test_issued_key_is_shown_only_once_and_needs_no_label(browser: Browser):
    new = SHOWN.search(browser.submit(KEYS, label=" ", days="").text)[0]
    for path in (KEYS, f"{KEYS}/{new[:16]}"):
        text = browser.get(path).text
        assert new[:16] in text
        assert new[16:] not in text


@pytest.mark.parametrize(
    ("field", "text", "fault"),
    [
        ("label", "x" * 201, "Label must have 1 to 200 characters."),
        ("label", "a\x00b", "Label must not be blank and must not contain control"),
        ("days", "0", "Expires after (days) must be an integer from 1 to 36500."),
        ("days", "-1", "Expires after (days) must be"),
        ("days", "1.5", "Expires after (days) must be"),
        ("days", "36501", "Expires after (days) must be"),
        ("days", "٣", "Expires after (days) must be"),
    ],
)
def test_invalid_form_is_shown_again_with_its_input(
    browser: Browser, project: Project, field: str, text: str, fault: str
):
    page = browser.submit(KEYS, **{field: text})
    assert page.status_code == 400
    assert fault in words(page)
    assert f'value="{text}"' in page.text
    assert len(Key.all_by_id(project)) == 1


def test_list_shows_the_state_of_each_key(
    browser: Browser, other: Key, project: Project, clock: Clock
):
    Key.by_prefix(Key.issue(project, expires_ms=clock.now_ms + 1)[:16])
    Key.ban(other.id, clock.now_ms + 60_000)
    clock.move(seconds=1)
    working = browser.read(KEYS)
    assert re.search("Active keys .* Website .* Banned .* Active", working)
    assert "Expired" not in working
    ended = browser.read(f"{KEYS}?status=ended")
    assert re.search("Ended keys .* Expired", ended)
    assert "Website" not in ended


def test_list_shows_every_key_newest_first(browser: Browser, project: Project):
    for number in range(25):
        Key.issue(project, label=f"Key {number}.")
    text = browser.read(KEYS)
    assert re.search("Key 24\\. .* Key 0\\. .* No label", text)


def test_list_marks_the_key_of_the_session(browser: Browser, other: Key):
    text = browser.read(KEYS)
    assert text.count("This session") == 1
    assert re.search(r"No label pet_\w+ This session", text)


@pytest.mark.parametrize("deed", ["issue", "rotate"])
@pytest.mark.parametrize(
    ("is_of_hour", "said"),
    [
        (False, "100 keys that work, which is the limit. Revoke one first"),
        (True, "has issued 100 keys in this hour, which is the limit"),
    ],
)
def test_exceeding_a_limit_shows_an_error(
    browser: Browser,
    app: Flask,
    other: Key,
    project: Project,
    is_of_hour: bool,
    said: str,
    deed: str,
):
    if is_of_hour:
        fill_up_hour(limiter_of(app), project, leave=1)
    else:
        fill_up_keys(project, leave=1)
    assert SHOWN.search(browser.submit(KEYS).text)
    before = Key.select().count()
    path = KEYS if deed == "issue" else f"{KEYS}/{other.prefix}/rotate"
    assert said in browser.follow(path)
    assert Key.select().count() == before


@of_both_engines
@pytest.mark.parametrize(
    ("grace", "state", "said"),
    [(3600, "retiring", "stays active until <time"), (0, "retired", "has ended")],
)
def test_rotation_shows_the_successor_and_retires_the_old_key(
    browser: Browser, other: Key, clock: Clock, grace: int, state: str, said: str
):
    page = act(browser, other, "rotate", grace=str(grace))
    successor = SHOWN.search(page.text)[0]
    assert Caller.of(successor).project_id == other.project_id
    assert said in page.text
    assert Key.by_prefix(other.prefix).state == state
    clock.move(seconds=grace)
    assert Key.by_prefix(other.prefix).state == "retired"


def test_retiring_key_cannot_be_rotated_again(
    browser: Browser, other: Key, project: Project
):
    act(browser, other, "rotate", grace="3600")
    answer = act(browser, other, "rotate", grace="3600")
    assert "is revoked, expired or rotated already" in words(answer)
    assert len(Key.all_by_id(project)) == 3


@pytest.mark.parametrize("grace", ["x", "-1", "31536001"])
def test_invalid_grace_period_is_refused(browser: Browser, other: Key, grace: str):
    assert act(browser, other, "rotate", grace=grace).status_code == 400
    assert Key.by_prefix(other.prefix).state == "active"


def test_revoked_key_stops_working_and_is_shown_with_the_time_of_its_end(
    browser: Browser, other: Key, clock: Clock
):
    Key.update(last_used_ms=clock.now_ms).where(Key.id == other.id).execute()
    clock.move(seconds=60)
    answer = act(browser, other, "revoke")
    assert "The key is revoked" in browser.read(answer.location)
    assert Caller.by_prefix(other.prefix) is None
    for path in (f"{KEYS}?status=ended", f"{KEYS}/{other.prefix}"):
        page = browser.read(path)
        assert "12:01 UTC" in page
        assert "never" not in page


def test_unbanned_key_becomes_active(browser: Browser, other: Key, clock: Clock):
    Key.ban(other.id, clock.now_ms + 60_000)
    assert "Banned until" in browser.read(f"{KEYS}/{other.prefix}")
    act(browser, other, "unban")
    assert Key.by_prefix(other.prefix).state == "active"


def test_revoking_the_session_key_ends_the_session(browser: Browser, key: str):
    own = Key.by_prefix(key[:16])
    assert "You are signed in with this key" in browser.read(f"{KEYS}/{own.prefix}")
    act(browser, own, "revoke", key=key)
    assert browser.get(KEYS).location == "/dashboard/sign-in?next=/dashboard/keys"


# What a key may be for, its roles, and what is said of them.
KINDS = {
    "staff": ("For staff", {"write": "signs in here for that, but not for keys"}),
    "program": (
        "For a program",
        {"write": "It is a secret: keep it in a", "read": "orders and whose they are"},
    ),
    "page": ("For a web page", {"public": "It is no secret: it may stand in a page"}),
    "owner": ("For an owner", {"full": "issue and revoke keys and change domains"}),
}
LIMITS = {"per_minute": "5", "per_day": "1000"}
SHOP = "https://shop.example"


def test_form_offers_a_key_for_staff_first_and_says_of_each_where_it_may_be_kept(
    browser: Browser,
):
    assert browser.read(KEYS) == browser.read(f"{KEYS}?kind=staff")
    titles = " ".join(title for title, _ in KINDS.values())
    for kind, (_, roles) in KINDS.items():
        page = browser.get(f"{KEYS}?kind={kind}")
        assert titles in words(page)
        assert re.findall('name="role" value="([a-z]+)"', page.text) == [*roles]
        assert all(said in words(page) for said in roles.values())


def test_form_for_a_web_page_has_half_the_limits_of_the_project_filled_in(
    browser: Browser, project: Project
):
    project.change_plan(Plan("enterprise", 60, 1))
    page = browser.get(f"{KEYS}?kind=page").text
    filled = re.findall('name="(per_[a-z]+)" type="text"\\s+value="([0-9]*)"', page)
    assert filled == [("per_minute", "30"), ("per_day", "1")]


@of_both_engines
@pytest.mark.parametrize(
    ("kind", "role"), [(kind, role) for kind in KINDS for role in KINDS[kind][1]]
)
def test_key_of_each_role_is_issued_and_shown_with_what_it_may_do(
    browser: Browser, project: Project, kind: str, role: str
):
    said = KINDS[kind][1][role]
    limits = LIMITS if role in ("public", "read") else {}
    page = browser.submit(f"{KEYS}?kind={kind}", role=role, **limits)
    assert said in words(page)
    caller = Caller.of(SHOWN.search(page.text)[0])
    assert (caller.role, caller.key_per_minute) == (role, 5 if limits else None)
    shown = browser.read(f"{KEYS}/{caller.prefix}")
    assert re.search(f"Role {role.capitalize()}\\. .*{said}", shown)
    assert f"{caller.prefix} {role.capitalize()} " in browser.read(KEYS)


def test_limits_and_origins_are_shown_in_the_list_and_on_the_page(browser: Browser):
    origins = f"{SHOP},\n HTTP://Localhost:8080 "
    page = browser.submit(KEYS, role="public", origins=origins, **LIMITS)
    prefix = SHOWN.search(page.text)[0][:16]
    shown = browser.read(f"{KEYS}/{prefix}")
    kept = f"{SHOP} http://localhost:8080"
    assert f"Its own limits 5 a minute, 1,000 a day Web pages {kept} Created" in shown
    assert f"Public 5 a minute, 1,000 a day {kept}" in browser.read(KEYS)


@of_both_engines
def test_label_limits_and_origins_are_changed_from_the_next_request_on(
    browser: Browser, client_of: Callable, project: Project
):
    key = Key.issue(project, Grant("public", 5, 50, (SHOP,)), label="Page")
    path, client = f"{KEYS}/{key[:16]}", client_of(key)
    shown = browser.get(path).text
    for name, value in (("label", "Page"), ("per_day", "50"), ("origins", SHOP)):
        assert re.search(f'name="{name}" type="text"\\s+value="{value}"', shown)
    fields = {"label": "Site", "origins": "https://a.example"} | LIMITS
    assert "The key is changed." in browser.follow(path, **fields)
    found = Caller.of(key)
    limits = (found.role, found.key_per_minute, found.key_per_day)
    assert limits == ("public", 5, 1000)
    assert client.get("/v1/pets", headers={"Origin": SHOP}).status_code == 403
    assert client.get("/v1/pets").headers["X-RateLimit-Limit"] == "5"
    assert f"Key changed {key[:16]}" in browser.read("/dashboard/activity")


@pytest.mark.parametrize(
    ("role", "fields", "fault"),
    [
        ("public", {"label": ""}, "A key for a web page needs limits of its own"),
        ("write", LIMITS | {"per_day": "9" * 9}, "at most the limits of its project"),
        ("public", LIMITS | {"origins": "x"}, "'x' is not an origin"),
        ("full", {"label": "x" * 201}, "Label must have 1 to 200 characters."),
    ],
)
def test_a_change_against_the_rules_is_shown_again_and_changes_nothing(
    browser: Browser, project: Project, role: str, fields: dict, fault: str
):
    key = Key.issue(project, Grant(role, 5, 50), label="Kept")
    answer = browser.submit(f"{KEYS}/{key[:16]}", **fields)
    assert (answer.status_code, fault in words(answer)) == (400, True)
    for name, text in fields.items():
        shown = rf'name="{name}" type="text"\s+value="{text}"'
        assert re.search(shown, answer.text)
    found = Key.by_prefix(key[:16])
    assert (found.label, found.per_day, found.origins) == ("Kept", 50, None)


def test_label_is_changed_after_the_plan_became_smaller_than_the_limits(
    browser: Browser, project: Project
):
    key = Key.issue(project, Grant("public", 200, 5000))[:16]
    project.change_plan(Plan("free"))
    fields = {"label": "Website", "per_minute": "200", "per_day": "5000"}
    assert browser.submit(f"{KEYS}/{key}", **fields).status_code == 303
    assert Key.by_prefix(key).label == "Website"
    assert (
        browser.submit(f"{KEYS}/{key}", **fields | {"per_day": "5001"}).status_code
        == 400
    )


def test_an_ended_key_is_not_changed(browser: Browser, other: Key):
    other.revoke()
    path = f"{KEYS}/{other.prefix}"
    assert "Save" not in browser.read(path)
    assert "is revoked, expired or rotated already" in browser.follow(path, label="x")
    assert Key.by_prefix(other.prefix).label == "Website"


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"role": "admin"}, "must be one of public, read, write, full"),
        ({"role": "public"}, "A key for a web page needs limits of its own"),
        ({"per_minute": "5"}, "A key has a limit per minute and a limit per day"),
        ({"per_day": "5"}, "A key has a limit per minute and a limit per day"),
        ({"per_minute": "0", "per_day": "5"}, "Requests per minute must be"),
        ({"per_minute": "1001", "per_day": "5"}, "at most the limits of its project"),
        ({"per_minute": "5", "per_day": str(2**63)}, "Requests per day must be"),
        ({"role": "write", "origins": SHOP}, "Only a key for a web page"),
        (LIMITS | {"role": "read", "origins": SHOP}, "Only a key for a web page"),
        (
            LIMITS | {"role": "public", "origins": "<b>"},
            "'<b>' is not an origin; write scheme, host and port alone",
        ),
        (
            LIMITS | {"role": "public", "origins": "a," * 11},
            "A key takes at most 10 origins.",
        ),
    ],
)
def test_a_key_against_the_rules_is_not_issued_and_the_form_shown_again(
    browser: Browser, project: Project, fields: dict, fault: str
):
    page = browser.submit(f"{KEYS}?kind=program", label="Kept", **fields)
    assert page.status_code == 400
    assert fault in words(page)
    assert 'value="Kept"' in page.text
    if fields.get("role") in ("read", "write"):
        assert f'value="{fields["role"]}" required checked' in page.text
    assert len(Key.all_by_id(project)) == 1
