"""Persistent connections: reuse, no pipelining, closing and idle timeout."""

import socket

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


def test_connection_goes_on_after_blank_lines_and_head_until_it_is_closed(
    service: Gunicorn, key: str
):
    old = get(key).replace(b"HTTP/1.1\r\nHost: x", b"HTTP/1.0")
    lines = ("close", "foo, close", "Close", "keep-alive, close")
    for last in (old, *(get(key, f"Connection: {line}") for line in lines)):
        with Wire(service.url) as wire:
            answer = wire.send(get(key) + b"\r\n").answer()
            assert (answer.status, answer.headers["Connection"]) == (200, "keep-alive")
            length = answer.headers["Content-Length"]
            wire.send(get(key).replace(b"GET", b"HEAD"))
            answer = wire.answer(has_body=False)
            assert (answer.status, answer.headers["Content-Length"]) == (200, length)
            answer = wire.send(last + get(key)).answer()
            assert (answer.status, answer.headers["Connection"]) == (200, "close")
            assert wire.is_closed()


def test_half_closed_client_gets_its_response(wire: Wire, key: str):
    wire.send(get(key)).socket.shutdown(socket.SHUT_WR)
    assert wire.answer().status == 200
    assert wire.is_closed()


def test_header_with_an_underscore_is_dropped(wire: Wire, key: str):
    wire.send(get(key, "X_Request_ID: forged", "Content_Length: 9"))
    assert wire.answer().headers["X-Request-ID"] != "forged"
    assert wire.send(get(key)).answer().status == 200
