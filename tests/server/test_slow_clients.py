"""Slow clients do not block others, and time out."""

import time
from collections.abc import Callable

import pytest

from tests.harness.servers import Gunicorn
from tests.harness.waiting import wait_until
from tests.harness.wire import Wire, connected, get, is_served, post

CROWD = 300
LARGE_FILE = "/large-file"  # more than the system buffers for a client


@pytest.fixture(scope="module")
def impatient(serve_all: Callable[..., Gunicorn]) -> Gunicorn:
    """A service with short deadlines to receive a request and to send a response."""
    deadlines = {"request_seconds": 1.0, "send_seconds": 5.0, "linger_seconds": 0.5}
    return serve_all(limits=deadlines)


@pytest.fixture
def halves(key: str) -> list[bytes]:
    """Requests of which a part is missing."""
    whole = post(key, "Content-Length: 32")
    chunked = post(key, "Transfer-Encoding: chunked")
    begun = [b"", whole[:7], whole[:40], whole]
    return [*begun, whole + b'{"name": "Rex"', chunked + b"20\r\n{"]


def test_half_sent_requests_block_nobody_and_are_answered_once_complete(
    service: Gunicorn, key: str
):
    whole = get(key)
    with connected(service.url, *[whole[:40]] * CROWD) as wires:
        assert all(is_served(service.url, key) for _ in range(20))
        for wire in wires:
            wire.send(whole[40:])
        assert {wire.answer().status for wire in wires} == {200}


def test_incomplete_requests_time_out(impatient: Gunicorn, halves: list[bytes]):
    started = time.monotonic()
    with connected(impatient.url, *halves) as wires:
        for wire in wires:
            assert wire.is_closed()
            assert time.monotonic() - started > 0.9


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
