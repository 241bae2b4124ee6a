"""Connections that are kept alive are shared among the workers."""

from collections.abc import Callable
from contextlib import ExitStack

import psutil

from tests.edge.test_restarts import workers
from tests.edge.wire import Wire, get
from tests.servers import Gunicorn

CONNECTIONS = 32


def test_a_burst_of_connections_is_shared_by_two_workers(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve(WEB_CONCURRENCY="2")
    two = [psutil.Process(pid) for pid in workers(service, 2)]
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(service.url)) for _ in range(CONNECTIONS)]
        for wire in wires:
            assert wire.send(get(key)).answer().status == 200
        shares = [
            sum(c.status == psutil.CONN_ESTABLISHED for c in worker.net_connections())
            for worker in two
        ]
    assert sum(shares) == CONNECTIONS
    assert min(shares) > CONNECTIONS / 4
