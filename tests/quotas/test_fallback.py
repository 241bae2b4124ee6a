"""Tests that workers count in memory while Redis is unavailable."""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests import servers
from tests.clocks import Clock
from tests.clusters import until
from tests.quotas.requests import PETS, ask, remaining


class Redis:
    """A Redis server that can be stopped and restarted on the same port."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._port = servers.free_port()
        self._process: subprocess.Popen | None = None
        self.url = f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        self._process = servers.start_redis(self._directory, self._port)

    def stop(self) -> None:
        servers.stop(self._process)

    def hang(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    redis = Redis(tmp_path)
    redis.start()
    yield redis
    redis.go_on()
    redis.stop()


@pytest.fixture
def environ(sqlite_url: str, redis: Redis) -> dict[str, str]:
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


def ask_until(client: FlaskClient, is_so: Callable[[], bool]) -> float:
    """Send requests until the condition holds; return the elapsed seconds."""
    started = time.monotonic()
    while not is_so():
        client.get(PETS)
        assert time.monotonic() - started < 20
    return time.monotonic() - started


def test_worker_enforces_its_share_while_redis_is_down(
    client: FlaskClient, redis: Redis
):
    assert remaining(client.get(PETS)) == (5, 99)
    redis.stop()
    assert remaining(client.get(PETS)) == (2, 49)
    assert ask(client, 3) == [200, 200, 429]


def test_requests_are_served_if_redis_is_down_before_the_first_one(
    client: FlaskClient, redis: Redis
):
    redis.stop()
    assert ask(client, 4) == [200, 200, 200, 429]


def test_a_share_is_never_less_than_one_request(
    client: FlaskClient, project: Project, redis: Redis
):
    project.change_plan(Plan("enterprise", 1, 1))
    redis.stop()
    assert ask(client, 2) == [200, 429]


def test_refusal_during_an_outage_has_retry_after(client: FlaskClient, redis: Redis):
    redis.stop()
    ask(client, 3)
    answer = client.get(PETS)
    assert answer.headers["Retry-After"] == "50"
    assert answer.headers["X-RateLimit-Remaining"] == "0"


def test_ban_is_enforced_while_redis_is_down(
    client: FlaskClient, project: Project, redis: Redis, clock: Clock
):
    [key] = Key.all_by_id(project)
    Key.ban(key.id, clock.now_ms + 1000)
    redis.stop()
    assert client.get(PETS).json["code"] == "api_key_banned"


def test_outage_and_recovery_are_logged_once(
    client: FlaskClient, redis: Redis, clock: Clock, capfd: pytest.CaptureFixture
):
    ask(client)
    redis.stop()
    capfd.readouterr()
    ends = time.monotonic() + 0.7  # long enough for a second attempt
    while time.monotonic() < ends:
        client.get(PETS)
    assert capfd.readouterr().out.count("counters_lost") == 1
    redis.start()
    clock.set_ms(clock.now_ms)
    ask_until(client, lambda: "counters_regained" in capfd.readouterr().out)
    ask(client)
    assert "counters_" not in capfd.readouterr().out


@pytest.mark.parametrize("way", ["stopped", "hung"])
def test_redis_counting_resumes_without_traffic(
    app: Flask, client: FlaskClient, redis: Redis, clock: Clock, way: str
):
    assert remaining(client.get(PETS)) == (5, 99)
    begin, end = {
        "stopped": (redis.stop, redis.start),
        "hung": (redis.hang, redis.go_on),
    }[way]
    begin()
    ask(client, 4)
    end()
    clock.set_ms(clock.now_ms)
    until(lambda: not app.extensions["limiter"].is_away)
    # After a hang, Redis also counts the hit that was sent as the outage began.
    assert remaining(client.get(PETS)) == ((5, 99) if way == "stopped" else (3, 97))


def test_requests_do_not_wait_for_a_hung_redis(client: FlaskClient, redis: Redis):
    ask(client)
    redis.hang()
    started = time.monotonic()
    assert ask(client, 3) == [200, 200, 200]
    assert time.monotonic() - started < 3  # 0.18 s, plus slack for a busy machine
