"""Tests that workers count in memory while Redis is unavailable."""

import time
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.grants import Grant
from petstore.models.keys import Key
from petstore.models.plans import Quota
from petstore.models.projects import Plan, Project
from petstore.quotas.fallback import ShareStorage
from petstore.quotas.strategy import AlignedWindowRateLimiter, Window
from tests.core.quotas.requests import PETS, remaining, retry_after, send
from tests.harness.clocks import Clock
from tests.harness.clusters import Server


@pytest.fixture
def environ(
    sqlite_url: str, redis: Server, set_limits: Callable[..., None]
) -> dict[str, str]:
    set_limits(retry_store_seconds=0.02)
    environ = {"DATABASE_URL": sqlite_url, "REDIS_URL": redis.url}
    return environ | {"WEB_CONCURRENCY": "2"}


@pytest.fixture
def project(project: Project) -> Project:
    """A project with 7 requests a minute, 3 for each of the two workers."""
    project.change_plan(Plan("enterprise", 7, 101))
    return project


def test_worker_enforces_its_share_while_redis_is_down_and_logs_it_once(
    client: FlaskClient, redis: Server, clock: Clock, capfd: pytest.CaptureFixture
):
    assert remaining(client.get(PETS)) == (6, 100)
    redis.kill()
    capfd.readouterr()
    assert remaining(client.get(PETS)) == (2, 49)
    assert send(client, 2) == [200, 200]
    assert retry_after(client.get(PETS)) == 50
    log = capfd.readouterr().out
    redis.start()
    clock.set_ms(clock.now_ms)
    time.sleep(0.02)  # until a request tries it again
    send(client, 9)
    assert log.count("counters_lost") == 1
    assert capfd.readouterr().out.count("counters_") == 1


def test_store_that_can_only_be_read_stays_away_until_it_counts(
    client: FlaskClient,
    stranger: FlaskClient,
    redis: Server,
    capfd: pytest.CaptureFixture,
):
    assert remaining(client.get(PETS)) == (6, 100)
    redis.client.config_set("maxmemory", 1)
    for _ in range(3):
        assert remaining(client.get(PETS))[0] < 3
        time.sleep(0.02)  # until a request tries it again
        stranger.options(PETS)
    redis.client.config_set("maxmemory", 0)
    assert remaining(client.get(PETS)) == (5, 99)
    log = capfd.readouterr().out
    assert (log.count("counters_lost"), log.count("counters_restored")) == (1, 1)


def test_share_holds_from_the_first_request_is_at_least_one_and_of_keys_too(
    client_of: Callable[[str], FlaskClient],
    project: Project,
    redis: Server,
    clock: Clock,
):
    limited = client_of(Key.issue(project, Grant(per_minute=3, per_day=5)))
    tiny = Project.add("Tiny", None, Plan("enterprise", 1, 1))
    redis.kill()
    assert send(limited, 2) == [200, 429]
    assert send(client_of(Key.issue(tiny)), 2) == [200, 429]
    Key.ban(Key.all_by_id(project)[0].id, clock.now_ms + 1000)
    assert limited.get(PETS).json["code"] == "api_key_banned"


def test_many_subjects_take_only_so_much_memory(set_limits: Callable[..., None]):
    def left(number: int, cost: int = 1) -> list[int]:
        windows = [Window.of(item, f"{number}") for item in Quota.of(4, 100)]
        return [each.remaining for each in limiter.hit_all(windows, cost).windows]

    set_limits(outage_windows=10)  # of five subjects, a minute and a day each
    limiter = AlignedWindowRateLimiter(ShareStorage(workers=2))
    assert [left(number) for number in range(5)] == [[1, 49]] * 5
    assert left(0, cost=0) == [1, 49]
    left(5)
    assert left(0, cost=0) == [2, 50]
