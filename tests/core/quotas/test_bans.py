"""Tests for what leads to a ban, and for its effects (specification section 8)."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.core.quotas.requests import (
    DAY_END_MS,
    PETS,
    on_one_store,
    remaining,
    retry_after,
    send,
)
from tests.harness.clocks import START_MS, Clock

MINUTE_MS = START_MS - 10_000  # the start of a minute
EXCEEDED = "rate_limit_exceeded"
BANNED = "api_key_banned"
ClientOf = Callable[[str], FlaskClient]
BAN_SECONDS = 90

GoOn = Callable[..., list[str]]


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    bans = {"PETSTORE_BAN_AFTER": "3", "PETSTORE_BAN_SECONDS": str(BAN_SECONDS)}
    return environ | bans


@pytest.fixture
def project(project: Project) -> Project:
    """A project with one request a minute."""
    project.change_plan(Plan("enterprise", 1, 1000))
    return project


@pytest.fixture
def go_on(client: FlaskClient, clock: Clock) -> GoOn:
    """A function that sends a request after each pause, given in seconds.

    It returns "served" or the error code of each request.
    """

    def go_on(*pauses: float) -> list[str]:
        results = []
        for seconds in pauses:
            if seconds:
                clock.move(seconds=seconds)
            answer = client.get(PETS)
            is_served = answer.status_code == 200
            results.append("served" if is_served else answer.json["code"])
        return results

    return go_on


@pytest.fixture
def banned(go_on: GoOn) -> None:
    """The key was just banned."""
    go_on(0, 0, 1, 1, 1)


def test_refusals_count_that_come_a_second_after_the_last_one(go_on: GoOn):
    assert go_on(*[0] * 9, 1, 0, 0) == ["served", *[EXCEEDED] * 11]
    assert go_on(*[0.999] * 9, 1) == [EXCEEDED] * 10
    assert go_on(*[0.5] * 9, 1) == [*[EXCEEDED] * 9, BANNED]


def test_refusal_count_resets_each_minute(go_on: GoOn, clock: Clock):
    clock.set_ms(MINUTE_MS + 56_500)
    assert go_on(0, 1, 1, 1) == ["served", *[EXCEEDED] * 3]
    assert go_on(1, 1, 1) == ["served", *[EXCEEDED] * 2]
    assert go_on(1) == [BANNED]


def test_429_during_a_ban_restarts_the_one_second_gap(go_on: GoOn, project: Project):
    go_on(0, 0, 1, 1, 1)
    project.change_plan(Plan("enterprise", 1, 1))
    assert go_on(89.9, 0.2, 1, 1, 1) == [BANNED, *[EXCEEDED] * 3, BANNED]


def test_refusals_are_counted_per_key(
    client: FlaskClient,
    client_of: ClientOf,
    project: Project,
    clock: Clock,
):
    send(client)
    other = client_of(Key.issue(project))
    for sender in [client, other] * 3:
        clock.move(seconds=1)
        assert sender.get(PETS).json["code"] == EXCEEDED


@on_one_store
@pytest.mark.usefixtures("banned")
def test_ban_lasts_until_its_end_and_has_an_error_code_of_its_own(
    client: FlaskClient, key: str, go_on: GoOn, clock: Clock
):
    end = clock.now_ms // 1000 + BAN_SECONDS
    for seconds in (0, 60):  # the second one is in a new minute
        clock.move(seconds=seconds)
        answer = client.get(PETS)
        wait = BAN_SECONDS - seconds
        assert answer.json == {
            "code": BANNED,
            "message": "This API key is banned for a while, for not waiting after 429; "
            f"wait {wait} seconds.",
            "status": 429,
        }
        assert retry_after(answer) == wait
        assert answer.headers["X-RateLimit-Remaining"] == "0"
        assert answer.headers["X-RateLimit-Reset"] == str(end)
    assert go_on(wait - 0.001) == [BANNED]
    clock.move(seconds=0.001)
    limiter = client.application.extensions["limiter"]
    assert not limiter.last_known(Caller.find_by_key(key), None).is_banned
    assert go_on(0) == ["served"]


@on_one_store
@pytest.mark.usefixtures("banned")
def test_requests_during_a_ban_neither_count_nor_extend_it(
    go_on: GoOn, client: FlaskClient
):
    assert go_on(*[5] * 17) == [BANNED] * 17
    assert go_on(5) == ["served"]
    assert remaining(client.get(PETS)) == (0, 998)


@on_one_store
@pytest.mark.parametrize("second", [10, 55])
def test_retry_after_covers_the_ban_and_a_used_up_minute(
    client: FlaskClient,
    client_of: ClientOf,
    project: Project,
    go_on: GoOn,
    clock: Clock,
    second: int,
):
    clock.set_ms(MINUTE_MS + second * 1000)
    other = client_of(Key.issue(project))
    go_on(0, 0, 1, 1, 1)
    assert other.get(PETS).json["code"] == EXCEEDED  # and not banned
    clock.move(seconds=BAN_SECONDS - 1)
    assert send(other) == [200]
    clock.move(seconds=retry_after(client.get(PETS)))
    assert send(client) == [200]


@on_one_store
def test_retry_after_covers_the_ban_and_a_used_up_day(
    client: FlaskClient, project: Project, go_on: GoOn, clock: Clock
):
    project.change_plan(Plan("enterprise", 1, 1))
    assert go_on(0, 0, 1, 1, 1)[-1] == BANNED
    answer = client.get(PETS)
    assert retry_after(answer) == (DAY_END_MS - clock.now_ms) // 1000
    assert answer.headers["X-RateLimit-Reset"] == str(DAY_END_MS // 1000)
    assert go_on(retry_after(answer)) == ["served"]
