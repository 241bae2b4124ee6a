"""Bursts of connections are accepted at once and spread over the workers."""

from collections.abc import Callable
from statistics import median

import psutil

from tests.harness.servers import Gunicorn
from tests.harness.waiting import wait_until
from tests.harness.wire import connected, get

CONNECTIONS = 32


def test_burst_of_connections_is_spread_over_two_workers(
    serve: Callable[..., Gunicorn], key: str
):
    # Much time for a worker that the machine is slow to wake.
    service = serve(limits={"yield_seconds": 0.02}, WEB_CONCURRENCY="2")
    wait_until(lambda: min(shares(service, key, 2)) > 0, "one of them does not serve")
    bursts = [shares(service, key, CONNECTIONS) for _ in range(5)]
    assert {sum(found) for found in bursts} == {CONNECTIONS}
    assert median(map(min, bursts)) > CONNECTIONS / 4


def shares(service: Gunicorn, key: str, count: int) -> list[int]:
    """Open `count` connections and return how many each of two workers holds."""
    with connected(service.url, *[get(key)] * count) as wires:
        assert {wire.answer().status for wire in wires} == {200}
        return [
            sum(c.status == psutil.CONN_ESTABLISHED for c in worker.net_connections())
            for worker in service.wait_for_workers(2)
        ]
