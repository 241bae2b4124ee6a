"""Tests for the effects of a ban (specification section 8)."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.harness.clocks import START_MS, Clock
from tests.quotas.bans.conftest import BAN_SECONDS, GoOn
from tests.quotas.requests import (
    DAY_END_MS,
    PETS,
    on_one_store,
    remaining,
    retry_after,
    send,
)

pytestmark = on_one_store
MINUTE_MS = START_MS - 10_000  # the start of a minute
EXCEEDED = "rate_limit_exceeded"
BANNED = "api_key_banned"


def test_banned_key_gets_its_own_error_code(banned: TestResponse):
    assert banned.status_code == 429
    assert banned.json == {
        "code": BANNED,
        "message": "This API key is banned for a while, for not waiting after 429; "
        "wait 90 seconds.",
        "status": 429,
    }


def test_ban_headers_show_zero_remaining_until_its_end(
    banned: TestResponse, clock: Clock
):
    assert banned.headers["X-RateLimit-Remaining"] == "0"
    assert banned.headers["Retry-After"] == str(BAN_SECONDS)
    end = clock.now_ms // 1000 + BAN_SECONDS
    assert banned.headers["X-RateLimit-Reset"] == str(end)


def test_key_is_served_after_the_ban_ends(go_on: GoOn, banned: TestResponse):
    wait = retry_after(banned)
    assert go_on(wait - 0.001, 0.001) == [BANNED, "served"]


def test_ban_continues_in_a_new_minute(
    client: FlaskClient, banned: TestResponse, clock: Clock
):
    clock.move(seconds=60)
    answer = client.get(PETS)
    assert answer.json["code"] == BANNED
    assert answer.headers["X-RateLimit-Remaining"] == "0"
    assert retry_after(answer) == BAN_SECONDS - 60


def test_requests_during_a_ban_neither_count_nor_extend_it(
    go_on: GoOn, banned: TestResponse, client: FlaskClient
):
    assert go_on(*[5] * 17) == [BANNED] * 17
    assert go_on(5) == ["served"]
    assert remaining(client.get(PETS)) == (0, 998)


@pytest.mark.parametrize("second", [10, 55])
def test_retry_after_covers_the_ban_and_a_used_up_minute(
    client: FlaskClient,
    client_of: Callable[[str], FlaskClient],
    project: Project,
    go_on: GoOn,
    clock: Clock,
    second: int,
):
    clock.set_ms(MINUTE_MS + second * 1000)
    other = client_of(Key.issue(project))
    go_on(0, 0, 1, 1, 1)
    clock.move(seconds=BAN_SECONDS - 1)
    assert send(other) == [200]
    clock.move(seconds=retry_after(client.get(PETS)))
    assert send(client) == [200]


def test_retry_after_covers_the_ban_and_a_used_up_day(
    client: FlaskClient, project: Project, go_on: GoOn, clock: Clock
):
    project.change_plan(Plan("enterprise", 1, 1))
    assert go_on(0, 0, 1, 1, 1)[-1] == BANNED
    answer = client.get(PETS)
    assert retry_after(answer) == (DAY_END_MS - clock.now_ms) // 1000
    assert answer.headers["X-RateLimit-Reset"] == str(DAY_END_MS // 1000)
    assert go_on(retry_after(answer)) == ["served"]


def test_other_keys_of_the_project_are_not_banned(
    client_of: Callable[[str], FlaskClient],
    banned: TestResponse,
    project: Project,
    clock: Clock,
):
    other = client_of(Key.issue(project))
    assert other.get(PETS).json["code"] == EXCEEDED
    clock.move(seconds=60)
    assert send(other) == [200]
