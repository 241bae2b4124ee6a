"""Valid requests of every operation, and random mutations of them."""

import json
import random
from collections.abc import Callable
from typing import NamedTuple

PATHS = [
    *("/v1/pets", "/v1/pets?limit=2", "/v1/pets?status=sold", "/v1/pets?after=3"),
    *("/v1/pets/1", "/v1/pets/999", "/v1/store/orders", "/v1/store/orders/1"),
    *("/v1/categories", "/v1/store/orders?status=placed&limit=1", "/openapi.json"),
    *("/docs", "/healthz", "/readyz", "/dashboard", "/metrics", "/v1/nothing"),
]
WRITES = [
    ("POST", "/v1/pets", {"name": "Rex", "categoryId": 5, "status": "available"}),
    ("POST", "/v1/store/orders", {"petId": 1}),
    ("PATCH", "/v1/store/orders/1", {"status": "completed"}),
    ("PUT", "/v1/categories/5", {"name": "Dogs"}),
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
LINES = [
    *("Content-Length: 5", "Content-Length: -1", "Content-Length: 1, 1"),
    *("Content-Length: 99999999999999999999", "Content-Length: +3"),
    *("Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked"),
    *("Transfer-Encoding: identity", "Transfer-Encoding : chunked", "Host: a", "Host:"),
    *("Host: \x00", "Host: [::1", "Host: x@y", "Expect: 100-continue", "Expect: x"),
    *("Connection: close", "Connection: keep-alive, upgrade", "Upgrade: h2c"),
    *(
        "X: " + "a" * 70_000,
        "X: " + "a" * 9000,
        "X" * 9000 + ": a",
        "no colon",
        ": empty",
        " folded",
        "\tf",
    ),
    *("Content-Type: text/plain", "Content-Type: application/json; charset=utf-16"),
    *("Content-Encoding: gzip", "Idempotency-Key: \x80", 'Idempotency-Key: "'),
    *("Idempotency-Key: mutant", "Authorization: Bearer", "Authorization: Basic eA=="),
    *(
        "Authorization: Bearer pet_" + "0" * 48,
        "Cookie: a=b; session=x",
        "Origin: null",
    ),
    *("X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: gopher", "Range: bytes=0-1"),
    *("X-Request-ID: \x1b[2J", "Access-Control-Request-Method: POST", "Accept: x/y"),
    *("X-HTTP-Method-Override: DELETE", "SCRIPT_NAME: /v1", "If-None-Match: *"),
]
VALUES = [
    *("", "x" * 201, "\x00", "\ud800", None, True, [], {}, -1, 0, 1.5, 1e308, 2**63),
    *(2**63 - 1, 10**400, "5", "sold", [[[]]], {"a": {"b": 1}}, "\u202e", " "),
]
TEXTS = [
    *(
        b"",
        b"{",
        b"[]",
        b"null",
        b"NaN",
        b'{"name":',
        b"\xef\xbb\xbf{}",
        b"\xff",
        b"1e9",
    ),
    *(b"[" * 3000, b'{"a":' * 3000, b'{"name":"a","name":"b","categoryId":1}'),
    *(b'{"name":"a","categoryId":1e999}', b'{"name":"\\udfff","categoryId":1}'),
    *(b'{"petId":' + b"9" * 5000 + b"}", b'{"name":"a","categoryId":1}' + b" " * 65536),
]
CHUNKINGS = [
    *(b"%x\r\n%s\r\n0\r\n\r\n", b"%x;a=b\r\n%s\r\n0\r\nTrailer: x\r\n\r\n"),
    *(b"-%x\r\n%s\r\n0\r\n\r\n", b"0x%x\r\n%s\r\n0\r\n\r\n", b"%x\n%s\n0\n\n"),
    *(b"%x\r\n%sX\r\n0\r\n\r\n", b"f%x\r\n%s\r\n0\r\n\r\n", b"%x\r\n%s0\r\n\r\n"),
    *(
        b"%x\r\n%s\r\n0\r\nHost: evil\r\nbad trailer\r\n\r\n",
        b" %x \r\n%s\r\n0\r\n\r\n",
    ),
    *(b"fffffffffffffffffffff%x\r\n%s\r\n0\r\n\r\n", b"%x\r\n%s\r\n00000\r\n\r\n"),
]


class Mutated(NamedTuple):
    """A request as it is sent, and whether its end is unambiguous."""

    content: bytes
    is_framed: bool


class Mutant:
    """The parts of a request that is being mutated."""

    def __init__(self, dice: random.Random, key: str, request_id: str) -> None:
        self.dice = dice
        self.request_id = request_id
        self.content: bytes | None = None
        self.is_chunked = False
        self.chunking = CHUNKINGS[0]
        self.version = "HTTP/1.1"
        self.end_of_line = "\r\n"
        if dice.random() < 0.5:
            self.method, self.target, body = dice.choice(WRITES)
            self.body = dict(body)
        else:
            self.method, self.target, self.body = "GET", dice.choice(PATHS), None
        self.lines = ["Host: x", f"Authorization: Bearer {key}"]

    def bytes(self) -> bytes:
        """Return the request as it is sent."""
        content = self.content
        if content is None and self.body is not None:
            content = json.dumps(self.body).encode()
        lines, tail = list(self.lines), content or b""
        if content is not None:
            lines.append("Content-Type: application/json")
        if content is not None and self.is_chunked:
            lines.append("Transfer-Encoding: chunked")
            tail = self.chunking % (len(content), content)
        elif content is not None:
            lines.append(f"Content-Length: {len(content)}")
        lines.append(f"X-Request-ID: {self.request_id}")
        first = f"{self.method} {self.target} {self.version}"
        head = self.end_of_line.join([first, *lines, "", ""])
        return head.encode("latin-1", "replace") + tail


def _other_method(mutant: Mutant) -> None:
    mutant.method = mutant.dice.choice(METHODS)


def _other_target(mutant: Mutant) -> None:
    mutant.target = mutant.dice.choice(TARGETS)


def _other_version(mutant: Mutant) -> None:
    mutant.version = mutant.dice.choice(["HTTP/1.0", "HTTP/2.0", "HTTP/1.9", "x", ""])


def _more_lines(mutant: Mutant) -> None:
    for line in mutant.dice.choices(LINES, k=mutant.dice.choice([1, 1, 2, 3])):
        mutant.lines.insert(mutant.dice.randrange(len(mutant.lines) + 1), line)


def _many_lines(mutant: Mutant) -> None:
    mutant.lines += [
        f"X-{number}: a" for number in range(mutant.dice.choice([90, 150]))
    ]


def _fewer_lines(mutant: Mutant) -> None:
    if mutant.lines:
        del mutant.lines[mutant.dice.randrange(len(mutant.lines))]


def _line_feeds(mutant: Mutant) -> None:
    mutant.end_of_line = mutant.dice.choice(["\n", "\r", "\r\r\n", "\n\r", "\r\n "])


def _other_value(mutant: Mutant) -> None:
    if mutant.body is not None:
        names = [*mutant.body, "id", "x" * 99, "\n"]
        mutant.body[mutant.dice.choice(names)] = mutant.dice.choice(VALUES)


def _fewer_members(mutant: Mutant) -> None:
    if mutant.body:
        mutant.body.pop(mutant.dice.choice(list(mutant.body)))


def _other_text(mutant: Mutant) -> None:
    if mutant.body is not None:
        mutant.content = mutant.dice.choice(TEXTS)


def _chunks(mutant: Mutant) -> None:
    mutant.is_chunked, mutant.chunking = True, mutant.dice.choice(CHUNKINGS)


FRAMED: list[Callable[[Mutant], None]] = [
    *(_other_method, _other_target, _other_version, _many_lines, _fewer_lines),
    *(_other_value, _other_value, _fewer_members, _other_text),
]
WILD: list[Callable[[Mutant], None]] = [
    *(_more_lines, _more_lines, _line_feeds, _chunks),
]


def mutated(dice: random.Random, key: str, request_id: str) -> Mutated:
    """Return a request with up to three mutations, and perhaps some of its bytes."""
    mutant = Mutant(dice, key, request_id)
    is_framed = dice.random() < 0.8
    mutations = FRAMED if is_framed else FRAMED + WILD * 2
    for mutation in dice.choices(mutations, k=dice.choice([0, 1, 1, 1, 2, 3])):
        mutation(mutant)
    sent = bytearray(mutant.bytes())
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
