"""Tests for counters in Redis that answers, but refuses to count."""

import pytest

from tests.faults.conftest import Serve
from tests.harness.clusters import Server
from tests.harness.load import countdown, load
from tests.harness.services import Service
from tests.harness.waiting import wait_until


@pytest.fixture
def service(serve: Serve, redis: Server) -> Service:
    return serve(REDIS_URL=redis.url)


@pytest.mark.parametrize(
    ("setting", "broken", "usual"),
    [("maxmemory", "100kb", "0"), ("min-replicas-to-write", "1", "0")],
)
def test_redis_that_refuses_to_write_is_an_outage(
    service: Service, redis: Server, setting: str, broken: str, usual: str
):
    with load(service.url, [service.key]) as clients:
        clients.run(0.3)
        redis.client.config_set(setting, broken)
        wait_until(lambda: service.events("counters_lost"))
        redis.client.config_set(setting, usual)
        wait_until(lambda: service.events("counters_restored"))
        left = clients.left_from_now(service.key, 20)
    assert clients.statuses() == {200}
    assert left == countdown(left)
    names = [line["event"] for line in service.events("counters_")]
    assert names == ["counters_lost", "counters_restored"]


def test_end_of_an_outage_is_logged_by_workers_that_did_not_see_it(
    service: Service, redis: Server
):
    redis.kill()
    assert service.send().status == 200
    wait_until(lambda: service.events("counters_lost"))
    for worker in service.workers:
        worker.suspend()
    redis.start()
    for worker in service.workers:
        worker.kill()
    wait_until(lambda: service.events("counters_restored"))
    assert service.counters == "ok"
