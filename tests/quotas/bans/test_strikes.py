"""Which refusals lead to a ban (specification section 8, decisions 6)."""

from collections.abc import Callable

import pytest
import redis
from flask.testing import FlaskClient

from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from tests.clocks import NOON_MS, Clock
from tests.quotas.bans.conftest import GoOn
from tests.quotas.requests import PETS, ask

MINUTE_MS = NOON_MS - 10_000  # where a minute begins
EXCEEDED = "rate_limit_exceeded"
BANNED = "api_key_banned"


def test_the_refusal_that_completes_the_count_is_answered_as_a_ban(go_on: GoOn):
    assert go_on(0, 0, 1, 1, 1) == ["served", *[EXCEEDED] * 3, BANNED]


def test_refusals_less_than_a_second_apart_do_not_count(go_on: GoOn):
    assert go_on(0, *[0.999] * 20) == ["served", *[EXCEEDED] * 20]


def test_a_refusal_that_does_not_count_puts_the_next_one_off(go_on: GoOn):
    assert go_on(0, 0, *[0.5] * 10, 1, 1, 0.5, 1) == [
        "served",
        *[EXCEEDED] * 14,
        BANNED,
    ]


def test_a_burst_bans_nobody(go_on: GoOn):
    assert go_on(*[0] * 50, 1, *[0] * 50) == ["served", *[EXCEEDED] * 100]


def test_the_count_begins_anew_with_each_minute(go_on: GoOn, clock: Clock):
    clock.set_ms(MINUTE_MS + 56_500)
    assert go_on(0, 1, 1, 1) == ["served", *[EXCEEDED] * 3]
    assert go_on(1, 1, 1) == ["served", *[EXCEEDED] * 2]
    assert go_on(1) == [BANNED]


def test_a_429_of_long_ago_is_a_previous_one_too(go_on: GoOn):
    assert go_on(0, 1) == ["served", EXCEEDED]
    assert go_on(3600, 1, 1, 1) == ["served", EXCEEDED, EXCEEDED, BANNED]


@pytest.mark.parametrize("store", ["redis"], indirect=True)
def test_redis_keeps_a_429_for_days_but_not_for_ever(go_on: GoOn, redis_url: str):
    go_on(0, 0)
    with redis.from_url(redis_url) as server:
        seconds = [server.ttl(name) for name in server.keys("petstore:*")]
    assert len(seconds) == 2  # the counts of the day, and the key's refusals
    assert min(seconds) > 86_400


def test_a_429_of_a_ban_puts_the_next_count_off_too(go_on: GoOn, project: Project):
    go_on(0, 0, 1, 1, 1)
    project.change_plan(Plan("enterprise", 1, 1))
    assert go_on(89.9, 0.2, 1, 1, 1) == [BANNED, *[EXCEEDED] * 3, BANNED]


def test_refusals_of_several_keys_are_not_added_up(
    client: FlaskClient,
    client_of: Callable[[str], FlaskClient],
    project: Project,
    clock: Clock,
):
    ask(client)
    other = client_of(Key.issue(project))
    for sender in [client, other] * 3:
        clock.move(seconds=1)
        assert sender.get(PETS).json["code"] == EXCEEDED


def test_strangers_are_refused_but_never_banned(stranger: FlaskClient, clock: Clock):
    ask(stranger, 60)
    for _ in range(10):
        clock.move(seconds=1)
        assert stranger.get(PETS).json["code"] == EXCEEDED


def test_by_default_ten_refusals_bring_five_minutes():
    settings = read_settings({})
    assert (settings.ban_after, settings.ban_seconds) == (10, 300)
