"""Daily request counts, as the counter stores keep them."""

import pytest
from flask import Flask

from petstore.clock import MS_PER_DAY
from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.quotas.limiter import Limiter
from petstore.quotas.windows import Day
from tests.harness.clocks import START_MS, Clock

TODAY = START_MS // MS_PER_DAY


@pytest.fixture(params=["sqlite", "postgresql", "redis"])
def environ(sqlite_url: str, request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings, with each counter store in turn."""
    url = request.getfixturevalue(f"{request.param}_url")
    if request.param == "redis":
        return {"DATABASE_URL": sqlite_url, "REDIS_URL": url, "WEB_CONCURRENCY": "1"}
    return {"DATABASE_URL": url, "WEB_CONCURRENCY": "1"}


@pytest.fixture
def caller(app: Flask) -> Caller:
    """A caller of a project with 3 requests a minute."""
    project = Project.add("Shelter", None, Plan("enterprise", 3, 100))
    return Caller.of(Key.issue(project))


@pytest.fixture
def limiter(app: Flask) -> Limiter:
    return app.extensions["limiter"]


def test_history_counts_served_and_refused_requests_by_day(
    limiter: Limiter, caller: Caller, clock: Clock
):
    for _ in range(5):
        limiter.count(caller, None)
    clock.move(days=2)
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


def test_history_excludes_other_projects(
    limiter: Limiter, caller: Caller, rival: Project
):
    limiter.count(Caller.of(Key.issue(rival)), None)
    assert limiter.history(caller.project_id, range(TODAY, TODAY + 1)) == [
        Day(TODAY, 0, 0)
    ]
