"""Valid requests of every operation, and random mutations of them."""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

PATHS = [
    *("/v1/pets", "/v1/pets?limit=2", "/v1/pets?status=sold", "/v1/pets?after=3"),
    *("/v1/pets/1", "/v1/pets/999", "/v1/store/orders", "/v1/store/orders/1"),
    *("/v1/categories", "/v1/store/orders?status=placed&limit=1", "/openapi.json"),
    *("/docs", "/healthz", "/readyz", "/dashboard", "/metrics", "/v1/nothing"),
]
WRITES = [
    ("POST", "/v1/pets", b'{"name": "Rex", "categoryId": 5, "status": "available"}'),
    ("POST", "/v1/store/orders", b'{"petId": 1}'),
    ("PATCH", "/v1/store/orders/1", b'{"status": "completed"}'),
    ("PUT", "/v1/categories/5", b'{"name": "Dogs"}'),
    ("POST", "/v1/pets", b"[" * 3000),
]
METHODS = [
    *("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT"),
    *("get", "PRI", "X" * 64, "", "G\x00T", "PROPFIND"),
]
TARGETS = [
    *("*", "http://x/v1/pets", "http://[::1/v1", "//v1/pets", "/v1/pets/", "x:1", ""),
    *("/v1/%zz", "/v1/%00", "/v1/%ff%fe", "/v1/%", "/%76%31/pets", "/v1/../v1/pets"),
    *("/v1/pets?limit=%", "/v1/pets?%00=1", "/v1/pets?limit=1&limit=1", "/v1/pets#x"),
    *("/v1/pets/9223372036854775808", "/v1/pets/" + "9" * 5000, "/v1/pets/-1"),
    *("/v1/pets?limit=" + "9" * 4301, "/v1/pets?after=1e3", "/v1/pets?status=\xe4"),
]
VERSIONS = ["HTTP/1.0", "HTTP/2.0", "HTTP/1.9", "x", ""]
ENDS_OF_LINES = ["\n", "\r", "\r\r\n", "\n\r", "\r\n "]
MANY = [f"X-{number}: a" for number in range(150)]
LINES = [
    *("Content-Length: 5", "Content-Length: -1", "Content-Length: 1, 1"),
    *("Content-Length: 99999999999999999999", "Content-Length: +3"),
    *("Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked"),
    *("Transfer-Encoding: identity", "Transfer-Encoding : chunked", "Host: a", "Host:"),
    *("Host: \x00", "Host: [::1", "Host: x@y", "Expect: 100-continue", "Expect: x"),
    *("Connection: close", "Connection: keep-alive, upgrade", "Upgrade: h2c"),
    *("X: " + "a" * 70_000, "X: " + "a" * 9000, "X" * 9000 + ": a"),
    *("no colon", ": empty", " folded", "\tf"),
    *("Content-Type: text/plain", "Content-Type: application/json; charset=utf-16"),
    *("Content-Encoding: gzip", "Idempotency-Key: \x80", 'Idempotency-Key: "'),
    *("Idempotency-Key: mutant", "Authorization: Bearer", "Authorization: Basic eA=="),
    *("Authorization: Bearer pet_" + "0" * 48, "Cookie: a=b; session=x"),
    *("Origin: null", "X-Forwarded-For: 1.2.3.4"),
    *("X-Forwarded-Proto: gopher", "Range: bytes=0-1"),
    *("X-Request-ID: \x1b[2J", "Access-Control-Request-Method: POST", "Accept: x/y"),
    *("X-HTTP-Method-Override: DELETE", "SCRIPT_NAME: /v1", "If-None-Match: *"),
]
CHUNKINGS = [
    *(b"%x\r\n%s\r\n0\r\n\r\n", b"%x;a=b\r\n%s\r\n0\r\nTrailer: x\r\n\r\n"),
    *(b"-%x\r\n%s\r\n0\r\n\r\n", b"0x%x\r\n%s\r\n0\r\n\r\n", b"%x\n%s\n0\n\n"),
    *(b"%x\r\n%sX\r\n0\r\n\r\n", b"f%x\r\n%s\r\n0\r\n\r\n", b"%x\r\n%s0\r\n\r\n"),
    b"%x\r\n%s\r\n0\r\nHost: evil\r\nbad trailer\r\n\r\n",
    b" %x \r\n%s\r\n0\r\n\r\n",
    *(b"fffffffffffffffffffff%x\r\n%s\r\n0\r\n\r\n", b"%x\r\n%s\r\n00000\r\n\r\n"),
]


class Mutated(NamedTuple):
    """A request as it is sent, and whether its end is unambiguous."""

    content: bytes
    is_framed: bool


def mutated(dice: random.Random, key: str, request_id: str) -> Mutated:
    """Return a request, some of whose parts, and perhaps bytes, are replaced."""
    is_framed = dice.random() < 0.8

    def mostly(usual: Any, others: Sequence[Any]) -> Any:
        return dice.choice(others) if dice.random() < 0.2 else usual

    method, target, body = dice.choice(WRITES)
    if dice.random() < 0.5:
        method, target, body = "GET", dice.choice(PATHS), b""
    lines = ["Host: x", f"Authorization: Bearer {key}"]
    lines = mostly(lines, [lines[:1], lines[1:], lines + MANY[:90], lines + MANY])
    end_of_line, chunking = "\r\n", None
    if not is_framed:
        end_of_line, chunking = mostly("\r\n", ENDS_OF_LINES), mostly(None, CHUNKINGS)
        for line in dice.choices(LINES, k=dice.randrange(4)):
            lines.insert(dice.randrange(len(lines) + 1), line)
    if body:
        length = f"Content-Length: {len(body)}"
        framing = "Transfer-Encoding: chunked" if chunking else length
        lines += ["Content-Type: application/json", framing]
    if body and chunking:
        body = chunking % (len(body), body)
    parts = mostly(method, METHODS), mostly(target, TARGETS)
    first = " ".join([*parts, mostly("HTTP/1.1", VERSIONS)])
    head = end_of_line.join([first, *lines, f"X-Request-ID: {request_id}", "", ""])
    sent = bytearray(head.encode("latin-1", "replace") + body)
    if not is_framed:
        _mutate_bytes(dice, sent)
    return Mutated(bytes(sent), is_framed)


def _mutate_bytes(dice: random.Random, sent: bytearray) -> None:
    chance = dice.random()
    if chance < 0.3:  # overwrite
        for _ in range(dice.randrange(1, 4)):
            sent[dice.randrange(len(sent))] = dice.randrange(256)
    elif chance < 0.4:  # truncate
        del sent[dice.randrange(len(sent)) :]
    elif chance < 0.5:  # repeat
        start = dice.randrange(len(sent))
        sent[start:start] = sent[start : start + dice.randrange(40)]
