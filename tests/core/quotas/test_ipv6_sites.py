"""Clients without a key: an IPv6 /48 has ten times the limits of each of its /64."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.quotas.limiter import STRANGERS, Limiter
from petstore.web.limiter import limiter_of
from tests.core.quotas.requests import PETS, on_one_store, remaining
from tests.harness.clocks import Clock

pytestmark = on_one_store
PER_MINUTE, PER_DAY = STRANGERS.per_minute, STRANGERS.per_day
SITE_PER_MINUTE = 600


@pytest.fixture
def limiter(app: Flask) -> Limiter:
    return limiter_of(app)


def address(network: int) -> str:
    """Return an address in one of the /64 of a /48."""
    return f"2001:db8:7:{network:x}::1"


def granted(limiter: Limiter, networks: list[int]) -> int:
    """Count a request from each of the networks; return how many are granted."""
    decisions = [limiter.count(None, address(network)) for network in networks]
    return sum(decision.is_granted for decision in decisions)


def test_requests_from_many_networks_of_a_site_are_refused_beyond_its_limit(
    limiter: Limiter, stranger: FlaskClient, clock: Clock
):
    stranger.environ_base["REMOTE_ADDR"] = address(0)
    for method in (stranger.get, stranger.options):
        assert remaining(method(PETS)) == (PER_MINUTE - 1, PER_DAY - 1)
    assert granted(limiter, [0] * (PER_MINUTE + 3)) == PER_MINUTE - 1
    others = [*range(1, SITE_PER_MINUTE)]
    assert granted(limiter, others) == SITE_PER_MINUTE - PER_MINUTE
    assert limiter.count(None, "2001:db8:8::1").is_granted
    stranger.environ_base["REMOTE_ADDR"] = address(1)
    answer = stranger.get(PETS)
    assert answer.status_code == 429
    assert answer.json["message"] == (
        "Without a valid API key, an IPv6 /48 may send 600 requests a minute; "
        "wait 50 seconds."
    )
    assert answer.headers["X-RateLimit-Limit"] == str(SITE_PER_MINUTE)
    assert remaining(stranger.options(PETS)) == (0, 9400)
    clock.move(seconds=int(answer.headers["Retry-After"]))
    assert stranger.get(PETS).status_code == 401


def test_wait_covers_the_minute_of_the_site_and_the_day_of_the_network(
    limiter: Limiter, clock: Clock
):
    while granted(limiter, [0] * PER_MINUTE) == PER_MINUTE:
        clock.move(seconds=60)
    clock.move(seconds=60)
    granted(limiter, [*range(1, SITE_PER_MINUTE + 1)])
    refused = limiter.count(None, address(0))
    assert not refused.is_granted
    assert refused.retry_after_seconds > 11 * 3600
