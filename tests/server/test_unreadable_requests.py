"""Unreadable requests get an error of the usual form, and close the connection."""

import json
import re
import socket

import pytest

from tests.harness.answers import RATE_LIMIT_HEADERS
from tests.harness.servers import Gunicorn
from tests.harness.smuggling import smuggled
from tests.harness.waiting import wait_until
from tests.harness.wire import Answer, Wire, get, post

KEY = "none"
CHUNKED = "Transfer-Encoding: chunked"
HEAD = 16 * 1024


def error_of(answer: Answer) -> tuple[int, str]:
    """Check the form of an error response and return its status and code."""
    assert answer.headers.keys() >= RATE_LIMIT_HEADERS | {"X-Request-ID"}
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Connection"] == "close"
    assert set(answer.json) == {"code", "message", "status"}
    assert answer.json["status"] == answer.status
    assert re.fullmatch(r"[A-Z].* .*[.]", answer.json["message"])
    return answer.status, answer.json["code"]


UNREADABLE = {
    "no request line": b"GARBAGE\r\n\r\n",
    "the answer of HTTP/0.9": b"GET /v1/pets\r\n\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": bytes.fromhex("16030101fc010001f80303") + b"\x7f" * 100,
    "a version that nobody speaks": b"GET /v1/pets HTTP/1.9\r\nHost: x\r\n\r\n",
    "line feeds alone": b"GET /v1/pets HTTP/1.1\nHost: x\n\n",
    "nothing but empty lines": b"\r\n" * HEAD,
    "no host": b"GET /v1/pets HTTP/1.1\r\n\r\n",
    "two hosts": get(KEY, "Host: y"),
    "a host that is none": b"GET /v1/pets HTTP/1.1\r\nHost: a b/c\r\n\r\n",
    "a host without its bracket": b"GET /v1/pets HTTP/1.1\r\nHost: [::1\r\n\r\n",
    "two idempotency keys": get(KEY, "Idempotency-Key: a", "Idempotency-Key: b"),
    "an address without a host": b"GET http:///v1/pets HTTP/1.1\r\nHost: x\r\n\r\n",
    "an address with a user": b"GET http://y@x/v1 HTTP/1.1\r\nHost: x\r\n\r\n",
    "an address that is none": b"GET http://[::1/v1 HTTP/1.1\r\nHost: x\r\n\r\n",
    "an asterisk with a path": b"OPTIONS */v1 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a header without a colon": get(KEY, "x"),
    "a space before the colon": get(KEY, "X : y"),
    "NUL in a header": get(KEY, "X: a\0b"),
    "a lonely carriage return": get(KEY, "X: a\rb"),
    "a folded header": get(KEY, "X: a", " b"),
    "an expectation that is unknown": get(KEY, "Expect: the-best"),
    "two lengths": post(KEY, "Content-Length: 32", "Content-Length: 33"),
    "a length of 5,000 digits": post(KEY, "Content-Length: " + "9" * 5000),
    "a length and chunks": post(KEY, "Content-Length: 32", CHUNKED),
    "compressed chunks": post(KEY, "Transfer-Encoding: gzip, chunked"),
    "chunks in HTTP/1.0": post(KEY, CHUNKED).replace(b"HTTP/1.1", b"HTTP/1.0"),
}


@pytest.mark.parametrize("sent", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_malformed_request_is_refused(wire: Wire, sent: bytes):
    assert error_of(wire.send(sent).answer()) == (400, "invalid_request")
    assert wire.is_closed()


def test_request_within_a_request_is_never_answered(service: Gunicorn, key: str):
    for case in smuggled("x", key, "outer", "inner"):
        with Wire(service.url) as wire:
            wire.send(case.content).socket.shutdown(socket.SHUT_WR)
            received = wire.rest()
        assert received.count(b"X-Request-ID: ") <= 1, case.name
        assert b"X-Request-ID: inner" not in received, case.name


@pytest.mark.parametrize(
    "sent",
    [
        get(KEY, "X: " + "a" * HEAD),
        get(KEY, path="/v1/" + "a" * HEAD),
        get(KEY, "X" * HEAD + ": a"),
        get(KEY, *["X: y"] * 99),
        get(KEY, *["X_Y: z"] * 99),
        get(KEY, "Content-Type: " + ";" * 201),
        get(KEY, "If-None-Match: " + '"",' * 201),
        get(KEY, *["Cookie: ;;;;"] * 51),
        get(KEY, *["X: y"] * 20_000)[:-2],
    ],
    ids=[
        "value",
        "target",
        "name",
        "count",
        "dropped",
        *("semicolons", "commas", "repeated"),
        "endless",
    ],
)
def test_too_large_or_too_many_headers_get_431(wire: Wire, sent: bytes):
    assert error_of(wire.send(sent).answer()) == (431, "headers_too_large")
    assert wire.is_closed()


@pytest.mark.parametrize("count", [1, 98])
def test_headers_up_to_the_limit_are_accepted(wire: Wire, key: str, count: int):
    room = HEAD - len(get(key, *["X: "] * count))
    lines = ["X: " + "a" * (room // count)] * count
    assert wire.send(get(key, *lines)).answer().status == 200


def test_malformed_request_is_logged_and_counted_once(wire: Wire, service: Gunicorn):
    before = refusals_counted(service)
    request_id = wire.send(b"BAD\r\n\r\n").answer().headers["X-Request-ID"]
    wait_until(lambda: request_id in service.log.read_text())
    lines = [
        json.loads(line)
        for line in service.log.read_text().splitlines()
        if request_id in line
    ]
    assert [(line["event"], line["status"]) for line in lines] == [("request", 400)]
    assert refusals_counted(service) == before + 1


def refusals_counted(service: Gunicorn) -> float:
    with Wire(service.url) as wire:
        metrics = wire.send(get(KEY, path="/metrics")).answer().content.decode()
    name = 'petstore_requests_total{operation="unknown",status="400"} '
    [line] = [line for line in metrics.splitlines() if line.startswith(name)] or ["0 0"]
    return float(line.split(" ")[1])
