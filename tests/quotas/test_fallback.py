"""Tests that workers count in memory while Redis is unavailable."""

import time
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.grants import Grant
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.harness.clocks import Clock
from tests.harness.clusters import Server
from tests.quotas.requests import PETS, remaining, send


@pytest.fixture
def environ(
    sqlite_url: str, redis: Server, set_limits: Callable[..., None]
) -> dict[str, str]:
    set_limits(retry_store_seconds=0.02)
    return {
        "DATABASE_URL": sqlite_url,
        "REDIS_URL": redis.url,
        "WEB_CONCURRENCY": "2",
    }


@pytest.fixture
def project(project: Project) -> Project:
    """A project with 6 requests a minute, 3 for each of the two workers."""
    project.change_plan(Plan("enterprise", 6, 100))
    return project


def test_worker_enforces_its_share_while_redis_is_down(
    client: FlaskClient, redis: Server
):
    assert remaining(client.get(PETS)) == (5, 99)
    redis.kill()
    assert remaining(client.get(PETS)) == (2, 49)
    assert send(client, 3) == [200, 200, 429]


def test_worker_enforces_its_share_of_the_limits_of_a_key(
    client_of: Callable, project: Project, redis: Server
):
    limited = client_of(Key.issue(project, Grant(per_minute=2, per_day=4)))
    redis.kill()
    assert send(limited, 2) == [200, 429]


def test_requests_are_served_if_redis_is_down_before_the_first_one(
    client: FlaskClient, redis: Server
):
    redis.kill()
    assert send(client, 4) == [200, 200, 200, 429]


def test_a_share_is_never_less_than_one_request(
    client: FlaskClient, project: Project, redis: Server
):
    project.change_plan(Plan("enterprise", 1, 1))
    redis.kill()
    assert send(client, 2) == [200, 429]


def test_refusal_during_an_outage_has_retry_after(client: FlaskClient, redis: Server):
    redis.kill()
    send(client, 3)
    answer = client.get(PETS)
    assert answer.headers["Retry-After"] == "50"
    assert answer.headers["X-RateLimit-Remaining"] == "0"


def test_ban_is_enforced_while_redis_is_down(
    client: FlaskClient, project: Project, redis: Server, clock: Clock
):
    [key] = Key.all_by_id(project)
    Key.ban(key.id, clock.now_ms + 1000)
    redis.kill()
    assert client.get(PETS).json["code"] == "api_key_banned"


def test_outage_and_recovery_are_logged_once(
    client: FlaskClient, redis: Server, clock: Clock, capfd: pytest.CaptureFixture
):
    send(client)
    redis.kill()
    capfd.readouterr()
    send(client, 9)
    log = capfd.readouterr().out
    redis.start()
    clock.set_ms(clock.now_ms)
    time.sleep(0.02)  # until a request tries it again
    send(client, 9)
    assert log.count("counters_lost") == 1
    assert capfd.readouterr().out.count("counters_") == 1
