"""Hostile requests are logged in one line each and do not harm the service."""

import random
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.harness.services import Service, serving

COUNT = 300
SEED = 20270317
FORGED = '"}%0a{"event":"request","status":200,"id":"forged"}'
METHODS = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE", "CONNECT"]
ODD_METHODS = ["get", "FOO", "A-B", "GET/", "!#$%&'*", "X" * 200, "GÄT", 'G"T', "GET\t"]
PATHS = [
    *("/v1/pets", "/v1/pets/1", "/v1/store/orders", "/v1/categories/5", "/docs", "/"),
    *("/v1", "/v1/", "/v1//pets", "//v1/pets", "/v1/pets/../../etc/passwd", "*", "x"),
    *("/v1/pets/%00", "/v1/pets/%0a%0d", "/v1/%e2%80%a8", "/v1/%ff%fe", "/%", "/%zz"),
    *("/v1/pets?limit=1&limit=2", "http://elsewhere.example/v1/pets", "http://[::1/v1"),
    *("/v1/pets#x", '/v1/"}{"event":1', "/v1/Ä", "/v1/\x7f", "/" + "v" * 3000),
    *("/docs/static/..%2f..%2f", "/healthz", "/metrics", "/v1/pets/" + "9" * 400),
]
VERSIONS = ["HTTP/1.1"] * 20 + ["HTTP/1.0", "HTTP/2.0", "http/1.1"]
HOSTS = ["x"] * 20 + ["", "[::1", "a..b", "x" * 300 + ":99999", "$(id)", "ä"]
NAMES = [
    *("Authorization", "X-Request-ID", "X-Forwarded-For", "X-Forwarded-Proto", "Via"),
    *("Content-Type", "Content-Encoding", "Cookie", "Origin", "Idempotency-Key"),
    *("Referer", "User-Agent", "Upgrade", "Range", "Script-Name", "Expect", "A_B"),
]
VALUES = [
    *("", "x", "ä", "\x1b[31mred", "\x00", "\x85", "a" * 5000, "{}", '"', "\\", FORGED),
    *("Bearer", "Bearer pet_" + "0" * 48, "Basic eDp5", "Bearer \x80\xff", "::1, a, b"),
    *("application/json; charset=utf-7", "gzip", "websocket", "bytes=0-,-1", "$(id)"),
]
BODIES = [
    *(b"{}", b"[]", b"{", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf{}", b"\r\n\r\n"),
    *(b'{"name": "\\ud800", "categoryId": 1}', b'{"name": "x", "categoryId": 1e999}'),
    *(b"[" * 5000, b'{"a":' * 900, b"x" * 70_000, FORGED.encode()),
]


def hostile_request(chance: random.Random, key: str) -> bytes:
    """Return a request, which the key helps past authentication most of the time."""
    methods = chance.choices([METHODS[:2], METHODS, ODD_METHODS], [2, 1, 1])[0]
    method, version = chance.choice(methods), chance.choice(VERSIONS)
    headers = [
        f"{name}: {chance.choice(VALUES)}"
        for name in chance.choices(NAMES, k=chance.choice([0, 1, 1, 1, 2, 4, 120]))
    ]
    body = chance.choice(BODIES) if method == "POST" else b""
    if body and chance.random() < 0.3:
        headers.append("Transfer-Encoding: chunked")
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    elif body:
        headers.append(f"Content-Length: {len(body)}")
    usual = [f"Authorization: Bearer {key}", "Content-Type: application/json"]
    headers += [header for header in usual if chance.random() < 0.6]
    headers += ["Connection: close", f"Host: {chance.choice(HOSTS)}"]
    chance.shuffle(headers)
    head = "\r\n".join([f"{method} {chance.choice(PATHS)} {version}", *headers, "", ""])
    return head.encode("latin-1") + body


@pytest.fixture
def service(sqlite_url: str, tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path, {"DATABASE_URL": sqlite_url}) as service:
        yield service


def answer_to(service: Service, request: bytes) -> tuple[int, str]:
    """Send the request; return the status of the response, and its only id."""
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port), 30) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    status, *fields = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    headers = dict(field.split(": ", 1) for field in fields)
    assert len(headers) == len(fields), "no header is repeated"
    return int(status.split(" ")[1]), headers["X-Request-ID"]


def test_each_hostile_request_is_one_readable_log_line(service: Service):
    chance = random.Random(SEED)
    sent = [hostile_request(chance, service.key) for _ in range(COUNT)]
    answers = [answer_to(service, request) for request in sent]
    lines = service.lines()[1:]  # the first request only tested that the service is up
    # Some requests carry X-Forwarded-For, which is logged once.
    events = Counter(line["event"] for line in lines)
    assert events == {"request": COUNT, "proxy_not_trusted": 1}
    lines = [line for line in lines if line["event"] == "request"]
    assert [(line["status"], line["id"]) for line in lines] == answers
    statuses = {status for status, _ in answers}
    # Many requests reach the application, and none makes it fail.
    assert statuses >= {200, 400, 401, 404, 405}
    assert max(statuses) < 500
    assert service.send().status == 200
