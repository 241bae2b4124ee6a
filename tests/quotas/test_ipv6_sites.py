"""Clients without a key: an IPv6 /48 has ten times the limits of each of its /64."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.credentials import new_key
from petstore.quotas.decisions import Decision
from petstore.quotas.limiter import FAILED_SIGN_INS, STRANGERS, Limiter
from tests.harness.browser import Browser
from tests.harness.clocks import Clock
from tests.harness.statements import recorded
from tests.quotas.requests import PETS, on_one_store, remaining

PER_MINUTE, PER_DAY = STRANGERS.per_minute, STRANGERS.per_day
SITE_PER_MINUTE = 600


@pytest.fixture
def limiter(app: Flask) -> Limiter:
    return app.extensions["limiter"]


def address(network: int) -> str:
    """Return an address in one of the /64 of a /48."""
    return f"2001:db8:7:{network:x}::1"


def granted(decisions: list[Decision]) -> int:
    return sum(decision.is_granted for decision in decisions)


def count_everywhere(limiter: Limiter, times: int) -> list[Decision]:
    """Count requests, each from another /64 of the /48."""
    return [limiter.count(None, address(number)) for number in range(times)]


def use_up(limiter: Limiter) -> None:
    """Use up the minute of the /48 by ten of its /64."""
    for number in range(SITE_PER_MINUTE):
        assert limiter.count(None, address(number % 10)).is_granted


def test_requests_from_many_networks_of_a_site_are_refused_beyond_its_limit(
    limiter: Limiter,
):
    decisions = count_everywhere(limiter, SITE_PER_MINUTE + 20)
    assert granted(decisions[:SITE_PER_MINUTE]) == SITE_PER_MINUTE
    assert granted(decisions[SITE_PER_MINUTE:]) == 0
    assert limiter.count(None, "2001:db8:8::1").is_granted


def test_what_a_network_is_refused_does_not_count_for_its_site(limiter: Limiter):
    decisions = [limiter.count(None, address(0)) for _ in range(PER_MINUTE + 40)]
    assert granted(decisions) == PER_MINUTE
    others = [limiter.count(None, address(1 + number % 20)) for number in range(580)]
    assert granted(others) == SITE_PER_MINUTE - PER_MINUTE


def test_refusal_names_the_limit_of_the_site_until_its_end(
    limiter: Limiter, stranger: FlaskClient, clock: Clock
):
    use_up(limiter)
    stranger.environ_base["REMOTE_ADDR"] = address(10)
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


def test_headers_show_the_network_while_it_is_the_tighter(stranger: FlaskClient):
    stranger.environ_base["REMOTE_ADDR"] = address(0)
    assert remaining(stranger.get(PETS)) == (PER_MINUTE - 1, PER_DAY - 1)
    assert remaining(stranger.options(PETS)) == (PER_MINUTE - 1, PER_DAY - 1)


def test_wait_covers_the_minute_of_the_site_and_the_day_of_the_network(
    limiter: Limiter, clock: Clock
):
    for number in range(PER_DAY):
        if number % PER_MINUTE == 0:
            clock.move(seconds=60)
        limiter.count(None, address(0))
    clock.move(seconds=60)
    for number in range(SITE_PER_MINUTE):
        limiter.count(None, address(1 + number % 10))
    refused = limiter.count(None, address(0))
    assert not refused.is_granted
    assert refused.retry_after_seconds > 11 * 3600


@on_one_store
def test_failed_sign_ins_of_a_site_are_limited_together(app: Flask):
    per_site = 10 * FAILED_SIGN_INS.per_minute
    statuses = [
        Browser(app, address=address(number)).sign_in(new_key()).status_code
        for number in range(per_site + 1)
    ]
    assert statuses == [401] * per_site + [429]


@on_one_store
@pytest.mark.parametrize(("client", "counts"), [("192.0.2.1", 1), (address(0), 2)])
def test_ipv4_costs_one_count_and_ipv6_two(limiter: Limiter, client: str, counts: int):
    limiter.count(None, client)
    with recorded() as statements:
        limiter.count(None, client)
    gists = [statement.gist for statement in statements]
    assert gists.count("INSERT counter") == counts
