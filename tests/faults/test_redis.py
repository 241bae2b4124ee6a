"""The log of an outage of Redis that ends while workers are replaced."""

import pytest

from tests.faults.conftest import Serve
from tests.harness.clusters import Server
from tests.harness.services import Service
from tests.harness.waiting import wait_until


@pytest.fixture
def service(serve: Serve, redis: Server) -> Service:
    return serve(REDIS_URL=redis.url)


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
