"""Slow clients do not block others, and time out."""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import psutil
import pytest

from tests.edge.wire import Wire, get, post
from tests.servers import Gunicorn
from tests.torture.waiting import wait_until

CROWD = 300
IMPATIENT = "--config tests/edge/impatient.py"
# Both deadlines are 1 s in impatient.py, and 10 s and 30 s elsewhere.
CLOSED_WITHIN_SECONDS = 8
PETS = "/v1/pets?limit=100"


@pytest.fixture(scope="module")
def impatient(serve_all: Callable[..., Gunicorn]) -> Gunicorn:
    """A service with deadlines of 1 s to receive a request and to send a response."""
    return serve_all(IMPATIENT)


@contextmanager
def crowd(service: Gunicorn, sent: bytes) -> Iterator[list[Wire]]:
    """Yield many connections that have each sent these bytes."""
    with ExitStack() as stack:
        yield [stack.enter_context(Wire(service.url)).send(sent) for _ in range(CROWD)]


def half_requests(key: str) -> dict[str, bytes]:
    whole = post(key, "Content-Length: 32")
    return {
        "nothing": b"",
        "half a request line": whole[:7],
        "half the headers": whole[:40],
        "no body": whole,
        "half a body": whole + b'{"name": "Rex"',
        "half a chunk": post(key, "Transfer-Encoding: chunked") + b"20\r\n{",
    }


@pytest.mark.parametrize("half", half_requests(""))
def test_half_sent_requests_do_not_block_other_clients(
    service: Gunicorn, key: str, half: str
):
    with crowd(service, half_requests(key)[half]):
        for _ in range(20):
            with Wire(service.url) as honest:
                assert honest.send(get(key)).answer().status == 200


def test_half_sent_requests_are_answered_once_complete(service: Gunicorn, key: str):
    whole = get(key)
    with crowd(service, whole[:40]) as wires:
        for wire in wires:
            wire.send(whole[40:])
        assert {wire.answer().status for wire in wires} == {200}


@pytest.mark.parametrize("half", half_requests(""))
def test_incomplete_request_times_out(impatient: Gunicorn, key: str, half: str):
    with Wire(impatient.url) as wire:
        started = time.monotonic()
        assert wire.send(half_requests(key)[half]).is_closed()
        assert 0.9 < time.monotonic() - started < CLOSED_WITHIN_SECONDS


def test_trickled_bytes_do_not_extend_the_deadline(impatient: Gunicorn, key: str):
    started = time.monotonic()
    with Wire(impatient.url) as wire:
        wire.send(get(key)[:-2]).socket.settimeout(0.1)
        while time.monotonic() - started < CLOSED_WITHIN_SECONDS:
            wire.send(b"x")
            with suppress(TimeoutError):
                assert wire.is_closed()
                return
    pytest.fail("it goes on waiting")


@pytest.fixture
def large(impatient: Gunicorn, key: str) -> bytes:
    """100 requests whose responses exceed what the system buffers for a client."""
    with Wire(impatient.url) as wire:
        body = ('{"name": "%s", "categoryId": 1}' % ("🐕" * 200)).encode()
        for _ in range(100):
            wire.send(post(key, f"Content-Length: {len(body)}") + body)
            assert wire.answer().status == 201
    return get(key, path=PETS) * 100


def test_client_that_reads_nothing_blocks_no_other_and_is_dropped(
    impatient: Gunicorn, key: str, large: bytes
):
    with Wire(impatient.url) as slow:
        slow.send(large)
        for _ in range(5):
            with Wire(impatient.url) as honest:
                assert honest.send(get(key)).answer().status == 200
        wait_until(lambda: not has_client(impatient, slow), "it is kept")
        assert count_answers(slow) < 100


def has_client(service: Gunicorn, wire: Wire) -> bool:
    """Return whether the service still holds its end of the connection."""
    [worker] = psutil.Process(service.process.pid).children()
    ours = wire.socket.getsockname()[1]
    return any(c.raddr and c.raddr.port == ours for c in worker.net_connections())


def count_answers(wire: Wire) -> int:
    """Return the number of responses until the connection ends."""
    for number in itertools.count():
        try:
            wire.answer()
        except (AssertionError, ConnectionResetError):
            return number


def test_slow_reader_gets_every_response(impatient: Gunicorn, key: str, large: bytes):
    with Wire(impatient.url) as slow:
        slow.send(large)
        for number in range(100):
            if number % 20 == 0:
                time.sleep(0.3)
            assert len(slow.answer().json) == 100


def test_oldest_connection_is_closed_at_the_limit(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve("--worker-connections 50")
    with crowd(service, get(key)[:20]) as wires:
        with Wire(service.url) as honest:
            for _ in range(3):
                assert honest.send(get(key)).answer().status == 200
        assert wires[0].is_closed()
