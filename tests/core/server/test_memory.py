"""Memory that idle, slow and hostile clients can make the worker use."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.harness.servers import Gunicorn
from tests.harness.waiting import wait_until
from tests.harness.wire import Wire, connected, get, is_served, post

KIB = 1024
LARGE_FILE = "/large-file"
IDLE = 1000
BUSY = 40
FILES = 4  # that the worker may open meanwhile
REQUESTS = 300


@pytest.fixture
def grown(service: Gunicorn, key: str) -> Callable[[], int]:
    """Return a function for the worker's growth in bytes since the test began."""
    [worker] = service.workers
    for path in ("/healthz", "/v1/pets", LARGE_FILE):
        assert is_served(service.url, key, path)
    before = worker.memory_info().rss
    return lambda: worker.memory_info().rss - before


@contextmanager
def crowd(service: Gunicorn, count: int, sent: bytes) -> Iterator[None]:
    """Run clients that send as much as the service accepts, and read nothing.

    After the block, wait until it has read the rest of that.
    """
    [worker] = service.workers
    before = worker.num_fds()
    with connected(service.url, *[b""] * count, receive_buffer=4 * KIB) as wires:
        for wire in wires:
            wire.socket.setblocking(False)
        for _ in range(10):
            for wire in wires:
                with suppress(BlockingIOError, ConnectionError):
                    wire.socket.send(sent)
            time.sleep(0.05)
        yield
    wait_until(lambda: worker.num_fds() <= before + FILES, "clients are still served")


def test_connection_with_a_byte_now_and_then_takes_less_than_40_kib(
    service: Gunicorn, key: str, grown: Callable[[], int]
):
    with crowd(service, IDLE, b"GET /v1/pets HTTP/1.1\r\nX: "):  # and so on
        assert is_served(service.url, key)
        assert grown() < IDLE * 40 * KIB


def hostile(key: str) -> dict[str, bytes]:
    length = f"Content-Length: {KIB**2}"
    return {
        "files that nobody reads": get(key, path=LARGE_FILE) * 8,
        "answers that nobody reads": get(key) * 10_000,
        "bodies that are too large": post(key, length) + b"x" * (KIB**2 - 1),
        "bodies that do not end": post(key, "Content-Length: 65536") + b"x" * 65535,
        "heads that do not end": get(key, "X: " + "x" * 64 * KIB)[: 64 * KIB],
        "chunks without end": post(key, "Transfer-Encoding: chunked")
        + b"1\r\nx\r\n" * 200_000,
    }


@pytest.mark.parametrize("what", hostile(""))
def test_hostile_client_takes_less_than_256_kib(
    service: Gunicorn, key: str, grown: Callable[[], int], what: str
):
    with crowd(service, BUSY, hostile(key)[what]):
        assert is_served(service.url, key)
        assert grown() < BUSY * 4 * 64 * KIB


def test_nothing_that_clients_send_is_kept(
    wire: Wire, key: str, grown: Callable[[], int]
):
    rest = f"\r\nAuthorization: Bearer {key}\r\n\r\n"
    for place in (
        "GET / HTTP/1.1\r\nHost: x\r\n{}: y",
        "GET / HTTP/1.1\r\nHost: {}",
        "GET /v1/{} HTTP/1.1\r\nHost: x",
        "GET /v1/pets?{} HTTP/1.1\r\nHost: x",
        "POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: {}",
    ):
        for number in range(REQUESTS):
            sent = place.format(f"{number}".rjust(15 * KIB, "x"))
            assert wire.send((sent + rest).encode()).answer().status < 429
    assert grown() < REQUESTS * 15 * KIB
