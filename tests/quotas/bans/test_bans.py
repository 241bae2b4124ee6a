"""Tests for the effects of a ban (specification section 8)."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

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
BANNED = "api_key_banned"
ClientOf = Callable[[str], FlaskClient]


@pytest.mark.usefixtures("banned")
def test_ban_lasts_until_its_end_and_has_an_error_code_of_its_own(
    client: FlaskClient, go_on: GoOn, clock: Clock
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
    assert go_on(wait - 0.001, 0.001) == [BANNED, "served"]


@pytest.mark.usefixtures("banned")
def test_requests_during_a_ban_neither_count_nor_extend_it(
    go_on: GoOn, client: FlaskClient
):
    assert go_on(*[5] * 17) == [BANNED] * 17
    assert go_on(5) == ["served"]
    assert remaining(client.get(PETS)) == (0, 998)


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
    assert other.get(PETS).json["code"] == "rate_limit_exceeded"  # and not banned
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
