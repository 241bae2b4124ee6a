"""Tests for what leads to a ban (specification section 8)."""

from collections.abc import Callable

import pytest
import redis
from flask.testing import FlaskClient

from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.harness.clocks import START_MS, Clock
from tests.quotas.bans.conftest import GoOn
from tests.quotas.requests import PETS, send

MINUTE_MS = START_MS - 10_000  # the start of a minute
EXCEEDED = "rate_limit_exceeded"
BANNED = "api_key_banned"


def test_refusals_count_that_come_a_second_after_the_last_one(go_on: GoOn):
    assert go_on(*[0] * 9, 1, 0, 0) == ["served", *[EXCEEDED] * 11]
    assert go_on(*[0.999] * 9, 1) == [EXCEEDED] * 10
    assert go_on(*[0.5] * 9, 1) == [*[EXCEEDED] * 9, BANNED]


def test_refusal_count_resets_each_minute(go_on: GoOn, clock: Clock):
    clock.set_ms(MINUTE_MS + 56_500)
    assert go_on(0, 1, 1, 1) == ["served", *[EXCEEDED] * 3]
    assert go_on(1, 1, 1) == ["served", *[EXCEEDED] * 2]
    assert go_on(1) == [BANNED]


@pytest.mark.parametrize("store", ["redis"], indirect=True)
def test_redis_keys_expire_after_their_windows(go_on: GoOn, redis_url: str):
    go_on(0, 0)
    with redis.from_url(redis_url) as server:
        seconds = sorted(server.ttl(name) for name in server.keys("petstore:*"))
    of_refusals, of_counts = seconds
    assert 60 < of_refusals <= 2 * 60
    assert 86_400 < of_counts <= 2 * 86_400


def test_429_during_a_ban_restarts_the_one_second_gap(go_on: GoOn, project: Project):
    go_on(0, 0, 1, 1, 1)
    project.change_plan(Plan("enterprise", 1, 1))
    assert go_on(89.9, 0.2, 1, 1, 1) == [BANNED, *[EXCEEDED] * 3, BANNED]


def test_refusals_are_counted_per_key(
    client: FlaskClient,
    client_of: Callable[[str], FlaskClient],
    project: Project,
    clock: Clock,
):
    send(client)
    other = client_of(Key.issue(project))
    for sender in [client, other] * 3:
        clock.move(seconds=1)
        assert sender.get(PETS).json["code"] == EXCEEDED
