"""Responses whose length nobody knows: in chunks, and whole where they are short."""

import http.client
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest

from petstore.server.response import MAX_WHOLE_BYTES, Response
from tests.harness.servers import Gunicorn
from tests.harness.wire import Wire, get

SHORT, LONG = 3, 500


def content(count: int) -> bytes:
    return b"".join(bytes([65 + number % 26]) * 1000 for number in range(count))


@pytest.mark.parametrize("count", [0, SHORT, LONG])
def test_client_gets_all_and_uses_the_connection_again(service: Gunicorn, count: int):
    client = http.client.HTTPConnection(urlsplit(service.url).netloc)
    for _ in range(2):
        client.request("GET", f"/parts/{count}")
        answer = client.getresponse()
        assert answer.read() == content(count)
        is_chunked = answer.headers["Transfer-Encoding"] == "chunked"
        assert (is_chunked, answer.headers["Content-Length"] is None) == (
            (True, True) if count == LONG else (False, False)
        )
    client.close()


def test_body_ends_with_the_connection_where_there_are_no_chunks(wire: Wire, key: str):
    sent = get(key, "Connection: keep-alive", path=f"/parts/{LONG}")
    wire.send(sent.replace(b"HTTP/1.1", b"HTTP/1.0"))
    head, _, body = wire.rest().partition(b"\r\n\r\n")
    assert b"Connection: close" in head
    assert b"Transfer-Encoding" not in head
    assert body == content(LONG)


def test_head_has_no_body(wire: Wire, key: str):
    sent = get(key, path=f"/parts/{LONG}").replace(b"GET", b"HEAD", 1)
    for _ in range(2):
        answer = wire.send(sent).answer(has_body=False)
        assert answer.status == 200
        assert "Transfer-Encoding" not in answer.headers


@pytest.mark.parametrize("line_break", ["\r\n", "\n", "\r"])
def test_response_whose_header_contains_a_line_break_is_not_sent(line_break: str):
    def application(environ: dict, start_response: Callable) -> list[bytes]:
        start_response("200 OK", [("Location", f"/{line_break}Set-Cookie: x=y")])
        return [b""]

    environ = {"REQUEST_METHOD": "GET", "SERVER_PROTOCOL": "HTTP/1.1"}
    response = Response(environ, is_last=lambda: False)
    with pytest.raises(ValueError, match="line break"):
        next(response.pieces(application))


def pieces(parts: Callable[[], Iterator[bytes]], protocol: str) -> Iterator[bytes]:
    def application(environ: dict, start_response: Callable) -> Iterator[bytes]:
        start_response("200 OK", [])
        return parts()

    environ = {"REQUEST_METHOD": "GET", "SERVER_PROTOCOL": protocol}
    return Response(environ, is_last=lambda: False).pieces(application)


@pytest.mark.parametrize("protocol", ["HTTP/1.0", "HTTP/1.1"])
def test_failure_leaves_the_response_unfinished(protocol: str):
    def parts() -> Iterator[bytes]:
        yield bytes(MAX_WHOLE_BYTES + 1)
        raise RuntimeError

    sent = []
    with pytest.raises(RuntimeError):
        sent.extend(pieces(parts, protocol))
    assert not sent[-1].endswith(b"0\r\n\r\n")
