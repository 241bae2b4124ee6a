"""Tests for counters in Redis that answers, but refuses to count."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.faults.conftest import Serve
from tests.faults.counting import countdown, counters_of, events, get
from tests.harness.clusters import Server, running
from tests.harness.load import load
from tests.harness.servers import Gunicorn, free_port
from tests.harness.waiting import wait_until


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Server]:
    with running(Server(free_port(), tmp_path / "redis")) as redis:
        yield redis


@pytest.fixture
def service(serve: Serve, redis: Server) -> Gunicorn:
    return serve(REDIS_URL=f"redis://{redis.name}")


@pytest.mark.parametrize(
    ("setting", "broken", "usual"),
    [("maxmemory", "100kb", "0"), ("min-replicas-to-write", "1", "0")],
)
def test_redis_that_refuses_to_write_is_an_outage(
    service: Gunicorn,
    redis: Server,
    issue: Callable,
    setting: str,
    broken: str,
    usual: str,
):
    _, key = issue()
    with load(service.url, [key]) as clients:
        clients.run(0.3)
        redis.client.config_set(setting, broken)
        clients.run(1.5)
        redis.client.config_set(setting, usual)
        wait_until(lambda: events(service, "counters_restored"))
        clients.run(0.3)
    assert clients.statuses() == {200}
    left = clients.left(key)[-20:]
    assert left == countdown(left)
    for name in ("counters_lost", "counters_restored"):
        assert len(events(service, name)) == 1


def test_end_of_an_outage_is_logged_by_workers_that_did_not_see_it(
    service: Gunicorn, redis: Server, issue: Callable
):
    _, key = issue()
    redis.kill()
    assert get(service, key).status == 200
    wait_until(lambda: events(service, "counters_lost"))
    for worker in psutil.Process(service.process.pid).children():
        worker.send_signal(signal.SIGSTOP)
    redis.start()
    for worker in psutil.Process(service.process.pid).children():
        worker.kill()
    wait_until(lambda: events(service, "counters_restored"))
    assert counters_of(service) == "ok"
