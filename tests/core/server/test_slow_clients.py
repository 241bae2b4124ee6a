"""Slow clients do not block others, and time out."""

import time
from collections.abc import Callable

import pytest

from tests.harness.servers import Gunicorn
from tests.harness.waiting import wait_until
from tests.harness.wire import Wire, connected, get, is_served, post

LARGE_FILE = "/large-file"  # more than the system buffers for a client


@pytest.fixture(scope="module")
def impatient(serve: Callable[..., Gunicorn]) -> Gunicorn:
    """A service with short deadlines to receive a request and to send a response."""
    deadlines = {"request_seconds": 2.0, "send_seconds": 3.0, "linger_seconds": 0.5}
    return serve("--keep-alive 1", limits=deadlines)


def test_idle_connections_and_incomplete_requests_time_out(
    impatient: Gunicorn, key: str
):
    whole = post(key, "Content-Length: 32")
    chunked = post(key, "Transfer-Encoding: chunked") + b"20\r\n{"
    halves = [b"", whole[:7], whole, whole + b'{"name": "Rex"', chunked]
    started = time.monotonic()
    with connected(impatient.url, get(key), get(key), *halves) as wires:
        begun, idle, *others = wires
        assert begun.answer().status == idle.answer().status == 200
        begun.send(get(key)[:40])
        assert idle.is_closed()
        assert begun.send(get(key)[40:]).answer().status == 200
        for wire in others:
            assert wire.is_closed()
            assert time.monotonic() - started > 1.9


def test_client_that_reads_nothing_blocks_no_other_and_is_dropped(
    impatient: Gunicorn, key: str
):
    with Wire(impatient.url, receive_buffer=4096) as slow:
        slow.send(get(key, path=LARGE_FILE))
        assert all(is_served(impatient.url, key) for _ in range(5))
        wait_until(lambda: not has_client(impatient, slow))
        with pytest.raises((AssertionError, ConnectionResetError)):
            slow.answer()


def has_client(service: Gunicorn, wire: Wire) -> bool:
    """Return whether the service still holds its end of the connection."""
    [worker] = service.workers
    ours = wire.socket.getsockname()[1]
    return any(c.raddr and c.raddr.port == ours for c in worker.net_connections())
