"""Tests for 429 and its Retry-After (specification section 8)."""

import pytest
from flask.testing import FlaskClient

from petstore import clock as service_clock
from petstore.models.projects import Plan, Project
from tests.clocks import NOON_MS, Clock
from tests.quotas.requests import PETS, ask, retry_after

MINUTE_MS = NOON_MS - 10_000  # the start of a minute
DAY_END_MS = service_clock.instant_ms(2027, 3, 18)


def test_refusal_has_an_error_body(client: FlaskClient):
    ask(client, 3)
    answer = client.get(PETS)
    assert answer.status_code == 429
    assert answer.content_type == "application/json"
    assert answer.json == {
        "code": "rate_limit_exceeded",
        "message": "The plan's limit is reached; wait 50 seconds.",
        "status": 429,
    }


def test_served_request_has_no_retry_after(client: FlaskClient):
    assert "Retry-After" not in client.get(PETS).headers


MOMENTS = [
    (MINUTE_MS, 60),
    (MINUTE_MS + 1, 60),
    (MINUTE_MS + 999, 60),
    (MINUTE_MS + 1000, 59),
    (MINUTE_MS + 58_999, 2),
    (MINUTE_MS + 59_000, 1),
    (MINUTE_MS + 59_999, 1),
    (DAY_END_MS - 1, 1),
]


@pytest.mark.parametrize(("now_ms", "seconds"), MOMENTS)
def test_retry_after_lasts_until_the_end_of_the_minute(
    client: FlaskClient, clock: Clock, now_ms: int, seconds: int
):
    clock.set_ms(now_ms)
    ask(client, 3)
    assert retry_after(client.get(PETS)) == seconds
    clock.move(seconds=seconds)
    assert ask(client) == [200]


@pytest.mark.parametrize("before_ms", [1, 999, 1000, 1001, 61_000, 86_400_000])
def test_retry_after_lasts_until_the_end_of_the_day(
    client: FlaskClient, project: Project, clock: Clock, before_ms: int
):
    project.change_plan(Plan("enterprise", 9, 2))
    clock.set_ms(DAY_END_MS - before_ms)
    ask(client, 2)
    assert retry_after(client.get(PETS)) == -(-before_ms // 1000)
    clock.move(seconds=retry_after(client.get(PETS)))
    assert ask(client, 3) == [200, 200, 429]


@pytest.mark.parametrize("before_ms", [1, 1000, 59_999, 60_000, 7_200_000])
def test_retry_after_covers_both_windows(
    client: FlaskClient, project: Project, clock: Clock, before_ms: int
):
    project.change_plan(Plan("enterprise", 2, 2))
    clock.set_ms(DAY_END_MS - before_ms)
    ask(client, 2)
    clock.move(seconds=retry_after(client.get(PETS)))
    assert ask(client) == [200]


@pytest.mark.parametrize("plan", [(2, 9), (9, 2)])
def test_request_one_second_early_is_refused(
    client: FlaskClient, project: Project, clock: Clock, plan: tuple[int, int]
):
    project.change_plan(Plan("enterprise", *plan))
    ask(client, 2)
    clock.move(seconds=retry_after(client.get(PETS)) - 1)
    assert retry_after(client.get(PETS)) == 1


def test_retry_after_covers_the_day_once_it_is_used_up(
    client: FlaskClient, clock: Clock
):
    ask(client, 3)
    clock.move(seconds=retry_after(client.get(PETS)))
    ask(client, 2)
    assert retry_after(client.get(PETS)) == 12 * 3600 - 60


def test_unauthenticated_refusal_has_retry_after(stranger: FlaskClient, clock: Clock):
    assert set(ask(stranger, 60)) == {401}
    clock.move(seconds=retry_after(stranger.get(PETS)))
    assert ask(stranger) == [401]
