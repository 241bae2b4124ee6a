"""Clients that take their time cost memory, never a thread."""

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
# Both times are one second there; elsewhere they are 10 and 30.
CLOSED_WITHIN_SECONDS = 8
PETS = "/v1/pets?limit=100"


@pytest.fixture(scope="module")
def impatient(serve_all: Callable[..., Gunicorn]) -> Gunicorn:
    """A service that gives a request one second to arrive, and an answer to leave."""
    return serve_all(IMPATIENT)


@contextmanager
def crowd(service: Gunicorn, sent: bytes) -> Iterator[list[Wire]]:
    """Many connections on which something has been sent."""
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
def test_a_crowd_that_sends_half_of_a_request_holds_nobody_up(
    service: Gunicorn, key: str, half: str
):
    with crowd(service, half_requests(key)[half]):
        for _ in range(20):
            with Wire(service.url) as honest:
                assert honest.send(get(key)).answer().status == 200


def test_what_was_half_sent_is_answered_when_the_rest_comes(
    service: Gunicorn, key: str
):
    whole = get(key)
    with crowd(service, whole[:40]) as wires:
        for wire in wires:
            wire.send(whole[40:])
        assert {wire.answer().status for wire in wires} == {200}


@pytest.mark.parametrize("half", half_requests(""))
def test_a_request_that_does_not_arrive_in_time_is_given_up(
    impatient: Gunicorn, key: str, half: str
):
    with Wire(impatient.url) as wire:
        started = time.monotonic()
        assert wire.send(half_requests(key)[half]).is_closed()
        assert 0.9 < time.monotonic() - started < CLOSED_WITHIN_SECONDS


def test_sending_a_byte_now_and_then_wins_no_time(impatient: Gunicorn, key: str):
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
    """A request whose answer is larger than what the system buffers for a client."""
    with Wire(impatient.url) as wire:
        body = ('{"name": "%s", "categoryId": 1}' % ("🐕" * 200)).encode()
        for _ in range(100):
            wire.send(post(key, f"Content-Length: {len(body)}") + body)
            assert wire.answer().status == 201
    return get(key, path=PETS) * 100


def test_a_client_that_reads_nothing_holds_nobody_up_and_is_let_go(
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
    """Whether the service still holds the other end of the connection."""
    [worker] = psutil.Process(service.process.pid).children()
    ours = wire.socket.getsockname()[1]
    return any(c.raddr and c.raddr.port == ours for c in worker.net_connections())


def count_answers(wire: Wire) -> int:
    """How many there are until the connection ends."""
    for number in itertools.count():
        try:
            wire.answer()
        except (AssertionError, ConnectionResetError):
            return number


def test_a_client_that_reads_slowly_gets_all(
    impatient: Gunicorn, key: str, large: bytes
):
    with Wire(impatient.url) as slow:
        slow.send(large)
        for number in range(100):
            if number % 20 == 0:
                time.sleep(0.3)
            assert len(slow.answer().json) == 100


def test_the_oldest_of_too_many_connections_makes_room(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve("--worker-connections 50")
    with crowd(service, get(key)[:20]) as wires:
        with Wire(service.url) as honest:
            for _ in range(3):
                assert honest.send(get(key)).answer().status == 200
        assert wires[0].is_closed()
