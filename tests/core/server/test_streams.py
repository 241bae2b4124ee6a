"""Responses whose length nobody knows are sent in chunks."""

import http.client
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest

from petstore.server.connection import Response
from tests.harness.servers import Gunicorn
from tests.harness.wire import Wire, get

COUNT = 500


def content(count: int) -> bytes:
    return b"".join(bytes([65 + number % 26]) * 1000 for number in range(count))


def test_client_gets_all_and_uses_the_connection_again(service: Gunicorn):
    client = http.client.HTTPConnection(urlsplit(service.url).netloc)
    for count in (0, 1, COUNT):
        client.request("GET", f"/parts/{count}")
        answer = client.getresponse()
        assert answer.headers["Transfer-Encoding"] == "chunked"
        assert "Content-Length" not in answer.headers
        assert answer.read() == content(count)
    client.close()


def test_body_ends_with_the_connection_where_there_are_no_chunks(wire: Wire, key: str):
    sent = get(key, "Connection: keep-alive", path=f"/parts/{COUNT}")
    wire.send(sent.replace(b"HTTP/1.1", b"HTTP/1.0"))
    head, _, body = wire.rest().partition(b"\r\n\r\n")
    assert b"Connection: close" in head
    assert b"Transfer-Encoding" not in head
    assert body == content(COUNT)


def test_failure_leaves_the_response_unfinished():
    def application(environ: dict, start_response: Callable) -> Iterator[bytes]:
        start_response("200 OK", [])
        yield b"x"
        raise RuntimeError

    for protocol in ("HTTP/1.0", "HTTP/1.1"):
        environ, sent = {"REQUEST_METHOD": "GET", "SERVER_PROTOCOL": protocol}, []
        with pytest.raises(RuntimeError):
            sent.extend(Response(environ, is_last=lambda: False).pieces(application))
        assert not sent[-1].endswith(b"0\r\n\r\n")
