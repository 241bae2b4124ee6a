"""Tests for the limits that a key has of its own, within those of its project."""

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore.models.grants import PUBLIC, READ, WRITE, Grant
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.core.quotas.requests import PETS, on_one_store, retry_after, send
from tests.harness.clocks import Clock

BAN_AFTER = 3
KEY_POLICY = '"key-minute";q=2;w=60, "key-day";q=4;w=86400'
EXCEEDED, BANNED = "rate_limit_exceeded", "api_key_banned"
ClientOf = Callable[[str], FlaskClient]


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    return environ | {"PETSTORE_BAN_AFTER": str(BAN_AFTER)}


@pytest.fixture
def project(app: Flask) -> Project:
    """A project with 6 requests a minute and 100 a day."""
    return Project.add("Shelter", None, Plan("enterprise", 6, 100))


@pytest.fixture
def limited(client_of: ClientOf, project: Project) -> FlaskClient:
    """A client whose key has 2 requests a minute and 4 a day."""
    return client_of(Key.issue(project, Grant(WRITE, per_minute=2, per_day=4)))


@pytest.fixture
def page(client_of: ClientOf, project: Project) -> FlaskClient:
    """A client with a key for a web page, with the same limits."""
    return client_of(Key.issue(project, Grant(PUBLIC, per_minute=2, per_day=4)))


def left(answer: TestResponse) -> list[int]:
    """Return what is left in the windows of the project and of the key."""
    items = answer.headers["RateLimit"].split(", ")
    return [int(item.split(";")[1].removeprefix("r=")) for item in items]


def shown(answer: TestResponse) -> tuple[str, str]:
    """Return X-RateLimit-Limit and -Remaining."""
    names = ("X-RateLimit-Limit", "X-RateLimit-Remaining")
    return tuple(answer.headers[name] for name in names)


def codes_after_a_second_each(
    client: FlaskClient, clock: Clock, times: int = BAN_AFTER
) -> list[str]:
    codes = []
    for _ in range(times):
        clock.move(seconds=1)
        codes.append(client.get(PETS).json["code"])
    return codes


def test_key_is_served_up_to_its_limits_and_other_keys_beyond(
    limited: FlaskClient, client: FlaskClient, clock: Clock
):
    assert send(limited, 5) == [200, 200, 429, 429, 429]
    # Refusals by the key have taken nothing from the project.
    assert left(client.get(PETS)) == [3, 97]
    assert send(client, 4) == [200] * 3 + [429]
    clock.move(seconds=60)
    assert send(limited, 3) == [200, 200, 429]
    clock.move(seconds=60)
    assert send(limited) == [429]
    clock.move(days=1)
    assert send(limited) == [200]


@on_one_store
def test_refusal_names_the_limit_of_the_key(limited: FlaskClient, clock: Clock):
    for message in (
        "This key allows 2 requests a minute; wait 50 seconds.",
        "This key allows 4 requests a day; wait 43,140 seconds.",
    ):
        send(limited, 2)
        refused = limited.get(PETS)
        assert refused.json["message"] == message
        assert shown(refused)[1] == "0"
        clock.move(seconds=retry_after(refused))
    assert send(limited) == [200]


def test_refusal_by_the_project_takes_nothing_from_the_key(
    limited: FlaskClient, client: FlaskClient
):
    send(client, 6)
    refused = limited.get(PETS)
    assert refused.json["message"].startswith("Enterprise allows 6 requests a minute;")
    assert left(refused) == [0, 94, 2, 4]


@on_one_store
def test_headers_show_the_windows_of_the_key_after_the_others(
    limited: FlaskClient, project: Project
):
    answer = limited.get(PETS)
    assert shown(answer) == ("2", "1")
    policy = answer.headers["RateLimit-Policy"]
    assert policy == f'"minute";q=6;w=60, "day";q=100;w=86400, {KEY_POLICY}'
    assert answer.headers["RateLimit"] == (
        '"minute";r=5;t=50, "day";r=99;t=43190, '
        '"key-minute";r=1;t=50, "key-day";r=3;t=43190'
    )
    project.change_plan(Plan("enterprise", 1, 3))
    policy = limited.get(PETS).headers["RateLimit-Policy"]
    assert policy.endswith('"key-minute";q=1;w=60, "key-day";q=3;w=86400')
    assert send(limited) == [429]


@on_one_store
def test_rotated_key_begins_at_zero(
    client_of: Callable, limited: FlaskClient, project: Project
):
    send(limited, 3)
    [old] = Key.all_by_id(project)
    successor = client_of(old.rotate(60))
    assert send(successor, 3) == [200, 200, 429]
    assert send(limited) == [429]


@pytest.mark.parametrize("role", [READ, WRITE])
def test_key_that_does_not_wait_for_its_own_limit_is_banned(
    client_of: ClientOf, project: Project, clock: Clock, role: str
):
    limited = client_of(Key.issue(project, Grant(role, per_minute=2, per_day=4)))
    send(limited, 3)
    codes = codes_after_a_second_each(limited, clock)
    assert codes == [EXCEEDED, EXCEEDED, BANNED]
    # During a ban nothing is counted for anybody.
    before, after = limited.get(PETS), limited.get(PETS)
    assert left(before) == left(after)
    assert shown(after)[1] == "0"


@on_one_store
def test_key_for_a_web_page_is_never_banned_and_shows_its_own_windows_alone(
    page: FlaskClient, client: FlaskClient, clock: Clock
):
    send(client, 4)
    for remaining in (1, 0, 0):
        answer = page.get(PETS)
        assert shown(answer) == ("2", f"{remaining}")
        assert answer.headers["RateLimit-Policy"] == KEY_POLICY
        assert left(answer) == [remaining, remaining + 2]
    codes = codes_after_a_second_each(page, clock, 3 * BAN_AFTER)
    assert set(codes) == {EXCEEDED}


@on_one_store
def test_refusal_of_a_key_for_a_web_page_by_its_project_tells_when_alone(
    page: FlaskClient, client: FlaskClient, clock: Clock
):
    send(client, 6)
    refused = page.get(PETS)
    told = "The project of this key has no requests left; wait 50 seconds."
    assert refused.json["message"] == told
    assert (shown(refused), left(refused)) == (("2", "2"), [2, 4])
    clock.move(seconds=retry_after(refused))
    assert send(page, 3) == [200, 200, 429]
