"""At the limit of file descriptors, old connections make room for new ones."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import psutil
import pytest

from tests.edge.wire import Wire, get
from tests.servers import Gunicorn

FEW = "--config tests/edge/few_descriptors.py"
CROWD = 70
BUNDLE = "/docs/swagger-ui/swagger-ui-bundle.js"


@pytest.fixture(scope="module")
def with_few(serve_all: Callable[..., Gunicorn]) -> Gunicorn:
    """A service limited to 64 file descriptors."""
    return serve_all(FEW)


@pytest.fixture
def few(with_few: Gunicorn, key: str) -> Iterator[Gunicorn]:
    """The same service with 70 connections that have each sent half a request."""
    with ExitStack() as stack:
        for _ in range(CROWD):
            stack.enter_context(Wire(with_few.url)).send(get(key)[:20])
        yield with_few


@pytest.mark.parametrize("path", ["/v1/pets", "/metrics", "/healthz", "/docs", BUNDLE])
def test_half_sent_requests_do_not_exhaust_descriptors(
    few: Gunicorn, key: str, path: str
):
    for _ in range(3):
        with Wire(few.url) as honest:
            answer = honest.send(get(key, path=path)).answer()
            assert answer.status == 200


def test_unread_files_do_not_exhaust_descriptors(few: Gunicorn, key: str):
    with ExitStack() as stack:
        for _ in range(CROWD):
            slow = stack.enter_context(Wire(few.url, receive_buffer=4096))
            slow.send(get(key, path=BUNDLE) * 8)
        with Wire(few.url) as honest:
            assert honest.send(get(key, path=BUNDLE)).answer().status == 200


def test_disconnected_clients_leak_no_descriptors(service: Gunicorn, key: str):
    [worker] = psutil.Process(service.process.pid).children()
    with Wire(service.url) as wire:
        wire.send(get(key)).answer()
        before = worker.num_fds()
        for _ in range(20):
            with Wire(service.url, receive_buffer=4096) as hasty:
                hasty.send(get(key, path=BUNDLE) * 3).line()
        assert wire.send(get(key)).answer().status == 200
        assert worker.num_fds() < before + 10  # files and stores may use a few
