"""Nobody without a key makes the service write, but for the counters of addresses."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.quotas.database import Counter
from petstore.quotas.limiter import STRANGERS
from petstore.web.limiter import limiter_of
from tests.core.quotas.requests import PETS
from tests.harness.statements import recorded

pytestmark = pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True)
PAGES = ("/", "/docs", "/openapi.json", "/healthz", "/readyz", "/metrics")
PAGES += ("/dashboard", "/dashboard/sign-in", "/internal/tls-allowed?domain=x")
SITE_PER_MINUTE = 10 * STRANGERS.per_minute


def verbs(seen: list) -> set[str]:
    return {each.gist.split()[0] for each in seen}


def test_looks_and_pages_read_alone(stranger: FlaskClient):
    for _ in range(2):  # the first ones make what is made once
        with recorded() as seen:
            stranger.options(PETS)
            stranger.options("/v1/nowhere")
            for path in PAGES:
                assert stranger.get(path).status_code < 500
    assert verbs(seen) == {"SELECT"}
    assert not Counter.select().exists()


def test_no_further_network_of_a_site_that_is_used_up_is_written(app: Flask):
    limiter = limiter_of(app)
    for number in range(SITE_PER_MINUTE):
        assert limiter.count(None, f"2001:db8:7:{number:x}::1").is_granted
    with recorded() as seen:
        for number in range(SITE_PER_MINUTE, SITE_PER_MINUTE + 3):
            assert not limiter.count(None, f"2001:db8:7:{number:x}::1").is_granted
    assert verbs(seen) == {"SELECT"}
    assert Counter.select().count() == SITE_PER_MINUTE + 1
