"""Tests that exactly the limit is served under concurrent requests."""

import random
from collections.abc import Callable
from itertools import cycle, islice

from petstore.models.projects import Plan
from tests.harness.bursts import burst
from tests.harness.crowds import by_window, send_at_once
from tests.together.races.conftest import Service, of_postgresql_and_redis

CLIENTS = 64
TRIALS = 2
BURST = 120  # redis-py opens 100 connections to a node unless told otherwise


def test_exactly_the_limit_is_served(service: Service):
    for trial in range(TRIALS):
        dice = random.Random(trial)
        assert burst(dice, service.environ, service.urls, BURST) == []
    assert "counters_lost" not in service.log


@of_postgresql_and_redis
def test_concurrent_refusals_are_not_counted_and_cause_no_ban(
    service: Service, key_of: Callable[[Plan], str]
):
    key = key_of(Plan("enterprise", 1000, 5))
    crowd = list(islice(cycle(service.urls), CLIENTS))
    answers = [answer for _ in range(5) for answer in send_at_once(crowd, key)]
    refused = [answer for answer in answers if not answer.is_served]
    for today in by_window(answers):
        assert sum(answer.is_served for answer in today) == min(5, len(today))
    assert {answer.json["code"] for answer in refused} == {"rate_limit_exceeded"}
    minute, _ = refused[-1].headers["RateLimit"].split(";t=", 1)
    assert minute in ('"minute";r=995', '"minute";r=1000')
