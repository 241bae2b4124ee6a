"""What the application is told of a request, and what its answer looks like."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from gunicorn.config import Config

from petstore.edge.exchange import BrokenHeader, Exchange, base_environ
from petstore.edge.framing import DirectRequest, Options, Received

CLIENT, SERVER = ("192.0.2.1", 4711), ("127.0.0.1", 8000)


def exchange(*lines: str, client: Any = CLIENT) -> Exchange:
    received = Received()
    received.feed("\r\n".join([*lines, "Host: x", "", ""]).encode())
    request = DirectRequest(Options.of(Config()), received, client)
    return Exchange(request, base_environ(client, SERVER))


def app(status: str, *headers: tuple[str, str], body: bytes = b"") -> Callable:
    def answer(_environ: dict, start_response: Callable) -> Iterable[bytes]:
        start_response(status, list(headers))
        return [body]

    return answer


def test_the_path_is_decoded_and_the_target_kept():
    environ = exchange("GET /v1/p%65ts?a=%20 HTTP/1.1").environ
    assert environ["PATH_INFO"] == "/v1/pets"
    assert environ["QUERY_STRING"] == "a=%20"
    assert environ["RAW_URI"] == "/v1/p%65ts?a=%20"


def test_headers_that_stand_twice_are_joined():
    environ = exchange("GET / HTTP/1.1", "X-A: 1", "X-A: 2").environ
    assert environ["HTTP_X_A"] == "1,2"


def test_a_client_of_a_unix_socket_has_no_address():
    assert exchange("GET / HTTP/1.1", client="").environ["REMOTE_ADDR"] == ""


def test_an_answer_says_how_long_it_is():
    answer = exchange("GET / HTTP/1.1").run(app("200 OK", body=b"Rex"))
    assert answer.endswith(b"\r\nContent-Length: 3\r\n\r\nRex")


@pytest.mark.parametrize("status", ["204 NO CONTENT", "304 NOT MODIFIED"])
def test_an_answer_without_a_body_does_not(status: str):
    assert b"Content-Length" not in exchange("GET / HTTP/1.1").run(app(status))


@pytest.mark.parametrize(
    ("line", "header", "said"),
    [
        ("GET / HTTP/1.1", "X: 1", b"keep-alive"),
        ("GET / HTTP/1.1", "Connection: close", b"close"),
        ("GET / HTTP/1.0", "X: 1", b"close"),
        ("GET / HTTP/1.0", "Connection: keep-alive", b"keep-alive"),
    ],
)
def test_it_says_whether_the_connection_goes_on(line: str, header: str, said: bytes):
    answer = exchange(line, header).run(app("200 OK"))
    assert b"\r\nConnection: %s\r\n" % said in answer


@pytest.mark.parametrize("value", ["a\r\nX: b", "a\nX: b", "a\rX: b"])
def test_a_header_cannot_become_two(value: str):
    with pytest.raises(BrokenHeader):
        exchange("GET / HTTP/1.1").run(app("200 OK", ("X", value)))
