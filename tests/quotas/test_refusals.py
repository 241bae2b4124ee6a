"""Tests for 429 and its Retry-After (specification section 8)."""

import pytest
from flask.testing import FlaskClient

from petstore.models.projects import Plan, Project
from tests.harness.clocks import START_MS, Clock
from tests.quotas.requests import DAY_END_MS, PETS, on_one_store, retry_after, send

pytestmark = on_one_store
MINUTE_MS = START_MS - 10_000  # the start of a minute


@pytest.mark.parametrize(
    ("now_ms", "seconds"),
    [
        (MINUTE_MS, 60),
        (MINUTE_MS + 999, 60),
        (MINUTE_MS + 1000, 59),
        (MINUTE_MS + 59_999, 1),
        (DAY_END_MS - 1, 1),
    ],
)
def test_retry_after_lasts_until_the_end_of_the_minute(
    client: FlaskClient, clock: Clock, now_ms: int, seconds: int
):
    clock.set_ms(now_ms)
    send(client, 3)
    assert retry_after(client.get(PETS)) == seconds
    clock.move(seconds=seconds)
    assert send(client) == [200]


@pytest.mark.parametrize("per_minute", [9, 2])
@pytest.mark.parametrize(
    ("before_ms", "wait"),
    [(1, "1 second"), (1001, "2 seconds"), (86_400_000, "86,400 seconds")],
)
def test_retry_after_lasts_until_the_end_of_the_day(
    client: FlaskClient,
    project: Project,
    clock: Clock,
    before_ms: int,
    wait: str,
    per_minute: int,
):
    project.change_plan(Plan("enterprise", per_minute, 2))
    clock.set_ms(DAY_END_MS - before_ms)
    send(client, 2)
    refused = client.get(PETS)
    expected = f"Enterprise allows 2 requests a day; wait {wait}."
    assert refused.json["message"] == expected
    assert retry_after(refused) == -(-before_ms // 1000)
    clock.move(seconds=retry_after(refused))
    assert send(client, 2) == [200, 200]
