"""Daily request counts, as the counter stores keep them."""

import pytest
from flask import Flask

from petstore.clock import MS_PER_DAY
from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.quotas.decisions import Day
from petstore.quotas.limiter import Limiter
from tests.harness.clocks import START_MS, Clock

TODAY = START_MS // MS_PER_DAY


@pytest.fixture
def caller(key: str) -> Caller:
    """A caller of a project with 3 requests a minute."""
    return Caller.of(key)


@pytest.fixture
def limiter(app: Flask) -> Limiter:
    return app.extensions["limiter"]


def test_history_counts_served_and_refused_requests_by_day(
    limiter: Limiter, caller: Caller, rival: Project, clock: Clock
):
    for _ in range(5):
        limiter.count(caller, None)
    clock.move(days=1)
    limiter.count(Caller.of(Key.issue(rival)), None)
    clock.move(days=1)
    limiter.count(caller, None)
    assert limiter.history(caller.project_id, range(TODAY, TODAY + 3)) == [
        Day(TODAY, 3, 2),
        Day(TODAY + 1, 0, 0),
        Day(TODAY + 2, 1, 0),
    ]


def test_history_goes_back_thirty_days(limiter: Limiter, caller: Caller, clock: Clock):
    limiter.count(caller, None)
    clock.move(days=30)
    limiter.count(caller, None)
    days = limiter.history(caller.project_id, range(TODAY, TODAY + 31))
    assert [day.served for day in (days[0], days[30])] == [1, 1]
