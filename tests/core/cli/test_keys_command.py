"""flask keys create, list, rotate, revoke and unban."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from flask import Flask

from petstore.models import flush_queues
from petstore.models.activity import Event
from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.core.cli.outputs import printed, refusal, table, text_of
from tests.harness import servers
from tests.harness.answers import error_of
from tests.harness.clocks import START_MS, Clock

KEYS = yaml.safe_load(Path(__file__).with_name("keys.yaml").read_text())
LIMITS = ("--per-minute", "5", "--per-day", "50")
FOR_PAGES = ("--role", "public", *LIMITS)
SHOP = "https://shop.example"
MINUTE_MS = 60_000


def listed(flask: Callable, *arguments: str) -> dict[str, dict[str, str]]:
    """Return the rows of `flask keys list` by prefix."""
    return {row["PREFIX"]: row for row in table(flask("keys", "list", *arguments))}


def row_of(flask: Callable, key: str) -> dict[str, str]:
    return listed(flask)[key[:16]]


@pytest.fixture
def rotate(flask: Callable) -> Callable:
    """Return a function that rotates a key and returns the command's result."""
    return lambda key, *options: flask("keys", "rotate", key[:16], *options)


@pytest.fixture
def is_working(client_of: Callable) -> Callable[[str], bool]:
    """Return a function that returns whether a key works."""
    return lambda key: client_of(key).get("/v1/pets").status_code == 200


def test_create_prints_a_working_key(flask: Callable, app: Flask, is_working: Callable):
    assert refusal(flask("keys", "create")) == (
        "There is no project yet: flask projects create NAME makes one."
    )
    Project.add("Shelter", None, Plan("free"))
    key = printed(flask("keys", "create"))
    assert re.fullmatch("pet_[0-9A-Za-z]{48}", key)
    assert is_working(key)
    Project.add("Rival", None, Plan("free"))
    assert refusal(flask("keys", "create")) == (
        "Which project? Give --project with one of rival, shelter."
    )
    other = printed(flask("keys", "create", "--project", "rival"))
    assert row_of(flask, other)["PROJECT"] == "rival"
    assert row_of(flask, other)["ROLE"] == "full"
    assert listed(flask).keys() == {key[:16], other[:16]}
    assert listed(flask, "--project", "rival").keys() == {other[:16]}


def test_list_shows_all_but_key(flask: Callable, project: Project, client_of: Callable):
    origins = ("--origin", SHOP, "--origin", "http://localhost:8080")
    options = ("--label", "CI", "--expires-in", "1.5", *FOR_PAGES, *origins)
    key = printed(flask("keys", "create", *options))
    for _ in range(8):
        client_of(key).get("/v1/pets")
    flush_queues()
    assert list(row_of(flask, key).values())[:12] == [
        *(key[:16], "CI", "public", "active", "2027-03-17T12:00:10Z"),
        *("2027-03-17T12:00:10Z", "2027-03-19T00:00:10Z", "-", "-", "5", "50"),
        f"{SHOP} http://localhost:8080",
    ]
    [row] = json.loads(text_of(flask("keys", "list", "--json")))
    assert row["origins"] == [SHOP, "http://localhost:8080"]
    assert row["revoked"] is None


def test_revoked_key_stops_working_and_stays_revoked(
    flask: Callable, rotate: Callable, key: str, is_working: Callable, clock: Clock
):
    successor = printed(rotate(key))
    for _ in range(2):
        assert text_of(flask("keys", "revoke", key[:16])) == ""
        clock.move(seconds=60)
    assert row_of(flask, key)["REVOKED"] == "2027-03-17T12:00:10Z"
    assert not is_working(key)
    assert is_working(successor)


def test_ban_is_listed_until_it_ends_or_is_lifted(
    flask: Callable, project: Project, is_working: Callable, clock: Clock
):
    until_ms = START_MS + MINUTE_MS
    banned, unbanned = (Key.issue(project, banned_until_ms=until_ms) for _ in range(2))
    assert not is_working(unbanned)
    assert text_of(flask("keys", "unban", unbanned[:16])) == ""
    assert is_working(unbanned)
    assert row_of(flask, unbanned)["BANNED UNTIL"] == "-"
    assert row_of(flask, banned)["BANNED UNTIL"] == "2027-03-17T12:01:10Z"
    clock.move(seconds=60)
    assert row_of(flask, banned)["BANNED UNTIL"] == "-"


def test_rotated_key_ends_in_time(flask: Callable, rotate: Callable, project: Project):
    for options, end in (
        ((), "2027-03-18T12:00:10Z"),
        (("--grace", "3600"), "2027-03-17T13:00:10Z"),
        (("--grace", "0"), "2027-03-17T12:00:10Z"),
    ):
        key = Key.issue(project)
        printed(rotate(key, *options))
        assert row_of(flask, key)["EXPIRES"] == end


def test_the_successor_inherits_everything_on_a_smaller_plan_too(
    flask: Callable, rotate: Callable, project: Project, client_of: Callable
):
    limits = ("--per-minute", "900", "--per-day", "9000", "--origin", SHOP)
    options = ("--role", "public", *limits, "--label", "CI", "--expires-in", "0.5")
    key = printed(flask("keys", "create", *options))
    Key.update(banned_until_ms=START_MS + MINUTE_MS).execute()
    project.change_plan(Plan("free"))
    successor = printed(rotate(key))
    new, old = row_of(flask, successor), row_of(flask, key)
    assert new | {"PREFIX": key[:16], "STATE": old["STATE"]} == old
    assert (new["BANNED UNTIL"], new["PER DAY"]) == ("2027-03-17T12:01:10Z", "9000")
    assert error_of(client_of(successor).get("/v1/pets")) == (429, "api_key_banned")


def test_rotated_revoked_or_expired_key_cannot_be_rotated(
    flask: Callable, rotate: Callable, project: Project, key: str
):
    rotated, expired = Key.issue(project), Key.issue(project, expires_ms=START_MS)
    printed(rotate(rotated))
    flask("keys", "revoke", key[:16])
    for ended in (rotated, key, expired):
        assert refusal(rotate(ended)) == (
            f"The key {ended[:16]} is revoked, expired or rotated already."
        )
    assert len(listed(flask)) == 4


def test_a_command_by_itself_records_what_it_does(
    environ: dict[str, str], database_url: str, key: str
):
    servers.flask(environ | {"DATABASE_URL": database_url}, "keys", "revoke", key[:16])
    newest = Event.select().order_by(Event.id.desc()).get()
    assert (newest.name, newest.actor) == ("key_revoked", "operator")


def test_key_of_a_deleted_project_is_unknown(flask: Callable, project: Project):
    prefix = Key.issue(project, banned_until_ms=START_MS + MINUTE_MS)[:16]
    before = Key.select().dicts().get()
    project.mark_deleted()
    for command in ("rotate", "revoke", "unban"):
        message = refusal(flask("keys", command, prefix))
        assert message == f"There is no key {prefix!r}; see flask keys list."
    assert list(Key.select().dicts()) == [before]


def test_origin_is_kept_once_as_browsers_write_it(flask: Callable, project: Project):
    for written, kept in KEYS["origins"].items():
        ten = (f"--origin={written}", *(f"--origin={kept}" for _ in range(9)))
        key = printed(flask("keys", "create", *FOR_PAGES, *ten))
        assert Caller.find_by_key(key).origins == kept
    message = refusal(flask("keys", "create", *FOR_PAGES, *ten, f"--origin={SHOP}"))
    assert message == "A key takes at most 10 origins."


def test_address_of_a_page_gives_its_origin_and_says_so(
    flask: Callable, project: Project
):
    for page, origin in KEYS["pages"].items():
        result = flask("keys", "create", *FOR_PAGES, f"--origin={page}")
        assert Caller.find_by_key(result.stdout.strip()).origins == origin
        assert result.stderr == (
            "All pages of a website may use the key, not only the one given: "
            f"{origin}.\n"
        )


def test_what_is_no_origin_is_refused(flask: Callable, project: Project):
    for origin in (*KEYS["no_origins"], "https://" + "a" * 1000):
        message = refusal(flask("keys", "create", *FOR_PAGES, "--origin", origin))
        assert "is not the address of a web page; write one like" in message
        assert len(message) < 400


def test_invalid_argument_is_refused_in_one_line(flask: Callable, key: str):
    for options, message in KEYS["refused"]:
        assert refusal(flask("keys", "create", *options)).startswith(message)
    for command in ("revoke", "unban", "rotate"):
        told = refusal(flask("keys", command, "a\nb"))
        assert told == r"There is no key 'a\nb'; see flask keys list."
        told = refusal(flask("keys", command, key))
        assert told == f"Give only the beginning of the key: {key[:16]}"
    for grace in ("-1", "31536001"):
        told = refusal(flask("keys", "rotate", key[:16], "--grace", grace))
        assert told.startswith("Invalid value for '--grace'")
    assert len(listed(flask)) == 1
