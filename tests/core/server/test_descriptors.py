"""At the limit of file descriptors, old connections make room for new ones."""

from collections.abc import Callable, Iterator
from http import HTTPStatus

import pytest

from petstore.timeouts import LIMITS
from tests.harness.servers import Gunicorn
from tests.harness.wire import Wire, connected, get, is_served

FEW = "--config tests/core/server/few_descriptors.py"
CROWD = 80
FOR_EIGHT = LIMITS.spare_descriptors + 8
LARGE_FILE = "/large-file"
PATHS = ("/v1/pets", "/healthz", LARGE_FILE)


@pytest.fixture(scope="module")
def with_few(serve: Callable[..., Gunicorn]) -> Gunicorn:
    """A service limited to 160 file descriptors."""
    return serve(FEW, TEST_DESCRIPTORS="160")


def test_room_for_eight_connections_serves_one_request_after_the_other(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve(FEW, TEST_DESCRIPTORS=str(FOR_EIGHT))
    with connected(service.url, *[get(key)[:20]] * CROWD):
        for path in (*PATHS, "/v1/pets") * 4:
            assert is_served(service.url, key, path)


@pytest.mark.parametrize(("descriptors", "lines"), [(64, 1), (FOR_EIGHT, 0)])
def test_too_few_descriptors_are_told_at_the_start(
    serve: Callable[..., Gunicorn], descriptors: int, lines: int
):
    service = serve(FEW, TEST_DESCRIPTORS=str(descriptors))
    told = f"a worker may open {descriptors} files, and needs "
    assert service.log.read_text().count(told) == lines


@pytest.fixture
def crowd(with_few: Gunicorn, key: str) -> Iterator[list[Wire]]:
    """80 connections to it that have each sent half a request, the oldest first."""
    with connected(with_few.url, *[get(key)[:20]] * CROWD) as wires:
        yield wires


def test_oldest_of_half_sent_requests_make_room(
    with_few: Gunicorn, crowd: list[Wire], key: str
):
    for path in PATHS * 3:
        assert is_served(with_few.url, key, path)
    assert crowd[0].is_closed()


def test_requests_may_come_some_time_after_their_connections(
    with_few: Gunicorn, crowd: list[Wire], key: str
):
    with connected(with_few.url, *[b""] * 20) as newest:
        assert crowd[len(newest)].is_closed()
        for wire in newest:
            assert wire.send(get(key)).answer().status == HTTPStatus.OK


@pytest.mark.usefixtures("crowd")
def test_unread_files_do_not_exhaust_descriptors(with_few: Gunicorn, key: str):
    files = get(key, path=LARGE_FILE) * 8
    with connected(with_few.url, *[files] * CROWD, receive_buffer=4096):
        assert is_served(with_few.url, key, LARGE_FILE)
