"""At the limit of file descriptors, old connections make room for new ones."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.harness.servers import Gunicorn
from tests.harness.wire import Wire, get

FEW = "--config tests/server/few_descriptors.py"
CROWD = 70
LARGE_FILE = "/large-file"


@pytest.fixture(scope="module")
def with_few(serve_all: Callable[..., Gunicorn]) -> Gunicorn:
    """A service limited to 64 file descriptors."""
    return serve_all(FEW)


@pytest.fixture
def crowd(with_few: Gunicorn, key: str) -> Iterator[list[Wire]]:
    """70 connections to it that have each sent half a request, the oldest first."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(Wire(with_few.url)).send(get(key)[:20])
            for _ in range(CROWD)
        ]


def test_oldest_of_half_sent_requests_make_room(
    with_few: Gunicorn, crowd: list[Wire], key: str
):
    for path in ("/v1/pets", "/metrics", "/healthz", "/docs", LARGE_FILE) * 3:
        with Wire(with_few.url) as honest:
            assert honest.send(get(key, path=path)).answer().status == 200
    assert crowd[0].is_closed()


def test_unread_files_do_not_exhaust_descriptors(
    with_few: Gunicorn, crowd: list[Wire], key: str
):
    with ExitStack() as stack:
        for _ in crowd:
            slow = stack.enter_context(Wire(with_few.url, receive_buffer=4096))
            slow.send(get(key, path=LARGE_FILE) * 8)
        with Wire(with_few.url) as honest:
            assert honest.send(get(key, path=LARGE_FILE)).answer().status == 200


def test_disconnected_clients_leak_no_descriptors(service: Gunicorn, key: str):
    [worker] = service.workers
    with Wire(service.url) as wire:
        wire.send(get(key)).answer()
        before = worker.num_fds()
        for _ in range(20):
            with Wire(service.url, receive_buffer=4096) as hasty:
                hasty.send(get(key, path=LARGE_FILE) * 3).line()
        assert wire.send(get(key)).answer().status == 200
        assert worker.num_fds() < before + 10  # files and stores may use a few
