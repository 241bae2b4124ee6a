"""Tests for the quota windows when the clock is set back."""

from flask.testing import FlaskClient

from tests.harness.clocks import START_MS, Clock
from tests.quotas.requests import DAY_END_MS, PETS, remaining, retry_after, send

MINUTE_END_MS = START_MS + 50_000


def test_setback_into_previous_minute_counts_in_the_later_one(
    client: FlaskClient, clock: Clock
):
    # The same holds for a slow request that is counted after its minute has ended.
    clock.set_ms(MINUTE_END_MS)
    assert send(client, 2) == [200, 200]
    clock.set_ms(MINUTE_END_MS - 1)
    assert remaining(client.get(PETS)) == (0, 2)
    assert retry_after(client.get(PETS)) == 60
    clock.set_ms(MINUTE_END_MS)
    assert send(client) == [429]


def test_setback_across_midnight_resets_neither_day(client: FlaskClient, clock: Clock):
    clock.set_ms(DAY_END_MS - 1)
    assert send(client, 2) == [200] * 2
    clock.set_ms(DAY_END_MS)
    assert send(client, 2) == [200] * 2
    clock.set_ms(DAY_END_MS - 1)
    assert send(client, 2) == [200, 429]
    clock.set_ms(DAY_END_MS)
    assert remaining(client.get(PETS)) == (0, 2)


def test_short_setback_resets_nothing_and_a_long_one_the_minute_alone(
    client: FlaskClient, clock: Clock
):
    assert send(client, 4) == [200, 200, 200, 429]
    clock.move(seconds=-9)
    assert send(client) == [429]
    clock.move(seconds=-300)
    assert send(client, 3) == [200, 200, 429]
