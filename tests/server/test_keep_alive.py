"""Persistent connections: reuse, no pipelining, closing and idle timeout."""

import socket
from collections.abc import Callable

import pytest

from tests.harness.databases import locked
from tests.harness.servers import Gunicorn
from tests.harness.wire import Wire, get, post

BODY = b'{"name": "Rex", "categoryId": 7}'
LARGE_FILE = "/large-file"


@pytest.mark.parametrize("path", ["/v1/pets", LARGE_FILE])
@pytest.mark.parametrize("early", ["GET /v1/pets HTTP/1.1\r\nHost:", "x"])
def test_what_comes_before_the_response_is_not_read_as_a_request(
    wire: Wire, key: str, path: str, early: str
):
    sent = get(key, path=path)
    answer = wire.send(sent + early.encode() + b"\r\n\r\n" + sent).answer()
    assert (answer.status, answer.headers["Connection"]) == (200, "close")
    assert wire.is_closed()


def test_what_comes_while_the_response_is_awaited_is_not_read_as_a_request(
    wire: Wire, key: str, service: Gunicorn, server_environ: dict[str, str]
):
    with (
        Wire(service.url) as other,
        locked(server_environ["DATABASE_URL"].removeprefix("sqlite:///")),
    ):
        for sent in (post(key, f"Content-Length: {len(BODY)}") + BODY, get(key)):
            wire.send(sent)
            assert other.send(get(key)).answer().status == 200
    answer = wire.answer()
    assert (answer.status, answer.headers["Connection"]) == (201, "close")
    assert wire.is_closed()


def test_blank_lines_after_a_request_are_nothing(wire: Wire, key: str):
    for _ in range(3):
        answer = wire.send(get(key) + b"\r\n").answer()
        assert (answer.status, answer.headers["Connection"]) == (200, "keep-alive")


@pytest.mark.parametrize("line", ["close", "foo, close", "Close", "keep-alive, close"])
def test_connection_close_closes_the_connection(wire: Wire, key: str, line: str):
    answer = wire.send(get(key, f"Connection: {line}") + get(key)).answer()
    assert (answer.status, answer.headers["Connection"]) == (200, "close")
    assert wire.is_closed()


def test_http_1_0_closes_the_connection_by_default(wire: Wire, key: str):
    sent = get(key).replace(b"HTTP/1.1\r\nHost: x", b"HTTP/1.0")
    assert wire.send(sent).answer().status == 200
    assert wire.is_closed()


def test_head_has_the_headers_of_get_and_no_body(wire: Wire, key: str):
    length = wire.send(get(key)).answer().headers["Content-Length"]
    answer = wire.send(get(key).replace(b"GET", b"HEAD")).answer(has_body=False)
    assert (answer.status, answer.headers["Content-Length"]) == (200, length)
    assert wire.send(get(key)).answer().status == 200


def test_half_closed_client_gets_its_response(wire: Wire, key: str):
    wire.send(get(key)).socket.shutdown(socket.SHUT_WR)
    assert wire.answer().status == 200
    assert wire.is_closed()


def test_header_with_an_underscore_is_dropped(wire: Wire, key: str):
    wire.send(get(key, "X_Request_ID: forged", "Content_Length: 9"))
    assert wire.answer().headers["X-Request-ID"] != "forged"
    assert wire.send(get(key)).answer().status == 200


def test_idle_connection_is_closed_and_a_partly_sent_request_is_not(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve("--keep-alive 1")
    with Wire(service.url) as wire, Wire(service.url) as idle:
        assert wire.send(get(key)).answer().status == 200
        wire.send(get(key)[:40])
        assert idle.send(get(key)).answer().status == 200
        assert idle.is_closed()
        assert wire.send(get(key)[40:]).answer().status == 200
