"""Roles, limits and origins of the keys that `flask keys` creates and lists."""

import json
from collections.abc import Callable

import pytest

from petstore.models.callers import Caller
from petstore.models.projects import Plan, Project
from tests.cli.outputs import printed, refusal, table, text_of
from tests.harness.databases import of_one_engine

LIMITS = ("--per-minute", "5", "--per-day", "50")
FOR_PAGES = ("--role", "read", *LIMITS)
SHOP = "https://shop.example"


@pytest.mark.parametrize(
    ("options", "role"),
    [((), "full"), *((("--role", role), role) for role in ("read", "write", "full"))],
)
def test_key_has_the_given_role_and_is_full_without_one(
    flask: Callable, project: Project, options: tuple, role: str
):
    assert Caller.of(printed(flask("keys", "create", *options))).role == role


def test_role_limits_and_origins_are_listed(flask: Callable, project: Project):
    origins = ("--origin", SHOP, "--origin", "http://localhost:8080")
    printed(flask("keys", "create", *FOR_PAGES, *origins))
    [row] = table(flask("keys", "list"))
    assert (row["ROLE"], row["PER MINUTE"], row["PER DAY"]) == ("read", "5", "50")
    assert row["ORIGINS"] == f"{SHOP} http://localhost:8080"
    [row] = json.loads(text_of(flask("keys", "list", "--json")))
    assert (row["role"], row["perMinute"], row["perDay"]) == ("read", 5, 50)
    assert row["origins"] == [SHOP, "http://localhost:8080"]


def test_successor_inherits_role_limits_and_origins_on_a_smaller_plan_too(
    flask: Callable, project: Project
):
    options = ("--role", "read", "--per-minute", "900", "--per-day", "9000")
    key = printed(flask("keys", "create", *options, "--origin", SHOP))
    project.change_plan(Plan("free"))
    old = Caller.of(key)
    new = Caller.of(printed(flask("keys", "rotate", old.prefix)))
    for caller in (old, new):
        assert (caller.role, caller.origins) == ("read", SHOP)
        assert (caller.key_per_minute, caller.key_per_day) == (900, 9000)


@of_one_engine
@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("HTTPS://Shop.Example:443", SHOP),
        ("http://SHOP.example:80", "http://shop.example"),
        ("https://shop.example:8443", "https://shop.example:8443"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("https://Müller.example", "https://xn--mller-kva.example"),
    ],
)
def test_origin_is_kept_as_browsers_write_it(
    flask: Callable, project: Project, written: str, kept: str
):
    key = printed(flask("keys", "create", *FOR_PAGES, "--origin", written))
    assert Caller.of(key).origins == kept


@of_one_engine
@pytest.mark.parametrize(
    "origin",
    [
        *("shop.example", "ftp://shop.example", "https://", "null", "*", ""),
        *(f"{SHOP}/", f"{SHOP}/pets", f"{SHOP}?a", f"{SHOP}#a", "https://a@b.example"),
        *(f"{SHOP}:0", f"{SHOP}:65536", f"{SHOP}:", f"{SHOP}, {SHOP}", f" {SHOP}"),
        *(f"{SHOP}\n", "https://-a.example", "https://[::1", "https://" + "a" * 1000),
        *("https://*.example", "https://ü_.example"),
    ],
)
def test_what_is_no_origin_is_refused(flask: Callable, project: Project, origin: str):
    message = refusal(flask("keys", "create", *FOR_PAGES, "--origin", origin))
    assert "is not an origin; write scheme, host and port alone" in message
    assert len(message) < 400


@of_one_engine
def test_key_takes_ten_origins_and_keeps_each_once(flask: Callable, project: Project):
    ten = [f"--origin=https://s{n}.example" for n in range(10)]
    printed(flask("keys", "create", *FOR_PAGES, *ten))
    key = printed(flask("keys", "create", *FOR_PAGES, *ten[:1] * 10))
    assert Caller.of(key).origins == "https://s0.example"
    message = refusal(flask("keys", "create", *FOR_PAGES, *ten, f"--origin={SHOP}"))
    assert message == "A key takes at most 10 origins."


@of_one_engine
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--role", "admin"), "Invalid value for '--role'"),
        (LIMITS[:2], "A key has a limit per minute and a limit per day of its own"),
        (LIMITS[2:], "A key has a limit per minute and a limit per day of its own"),
        (("--per-minute", "0", "--per-day", "1"), "Invalid value for '--per-minute'"),
        (("--per-minute", "1", "--per-day", "-1"), "Invalid value for '--per-day'"),
        (
            ("--per-minute", "1001", "--per-day", "1"),
            "A key may have at most the limits of its project, which are 1,000 ",
        ),
        (("--per-minute", "1", "--per-day", "100001"), "A key may have at most"),
        (("--role", "read", "--origin", SHOP), "Only a key for a web page takes"),
        (("--role", "write", *LIMITS, "--origin", SHOP), "Only a key for a web page"),
        ((*LIMITS, "--origin", SHOP), "Only a key for a web page takes origins"),
    ],
)
def test_grant_against_the_rules_is_refused_in_one_line(
    flask: Callable, project: Project, options: tuple, message: str
):
    assert refusal(flask("keys", "create", *options)).startswith(message)
    assert table(flask("keys", "list")) == []


@pytest.mark.parametrize("role", ["read", "write", "full"])
def test_key_of_any_role_may_have_the_limits_of_its_project(
    flask: Callable, project: Project, role: str
):
    limits = ("--per-minute", "1000", "--per-day", "100000")
    caller = Caller.of(printed(flask("keys", "create", "--role", role, *limits)))
    assert (caller.key_per_minute, caller.key_per_day) == (1000, 100_000)
