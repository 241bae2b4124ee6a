"""Tests that exactly the limit is served under concurrent requests."""

from collections.abc import Callable
from itertools import cycle, islice

from petstore.models.projects import Plan
from tests.clients import Answer
from tests.crowds import ask_at_once, served_by_minute
from tests.races.conftest import Service

CLIENTS = 64
TRIALS = 4


def at_once(service: Service, key: str) -> list[Answer]:
    """Send one request per client, spread evenly over the servers."""
    return ask_at_once(islice(cycle(service.urls), CLIENTS), key)


def test_exactly_the_minute_limit_is_served(
    service: Service, key_of: Callable[[Plan], str]
):
    keys = [key_of(Plan("free")) for _ in range(TRIALS)]
    for key in keys:
        for asked, served in served_by_minute(at_once(service, key)):
            # A trial that crosses into the next minute has the full limit in each.
            assert served == min(asked, 60)


def test_exactly_the_day_limit_is_served(
    service: Service, key_of: Callable[[Plan], str]
):
    keys = [key_of(Plan("enterprise", 1000, 60)) for _ in range(TRIALS)]
    for key in keys:
        for asked, served in served_by_minute(at_once(service, key)):
            assert served == min(asked, 60)


def test_each_response_has_a_distinct_remaining_count(
    service: Service, key_of: Callable[[Plan], str]
):
    answers = at_once(service, key_of(Plan("enterprise", 10**6, 10**5)))
    left = sorted(int(answer.headers["X-RateLimit-Remaining"]) for answer in answers)
    assert left == list(range(10**5 - CLIENTS, 10**5))


def test_concurrent_refusals_are_not_counted_and_cause_no_ban(
    service: Service, key_of: Callable[[Plan], str]
):
    key = key_of(Plan("enterprise", 1000, 5))
    answers = [answer for _ in range(5) for answer in at_once(service, key)]
    refused = [answer for answer in answers if not answer.is_served]
    assert len(refused) == 5 * CLIENTS - 5
    assert {answer.json["code"] for answer in refused} == {"rate_limit_exceeded"}
    minute, _ = refused[-1].headers["RateLimit"].split(";t=", 1)
    assert minute in ('"minute";r=995', '"minute";r=1000')
