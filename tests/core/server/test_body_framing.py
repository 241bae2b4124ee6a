"""Request bodies: lengths, chunks, the size limit and `Expect: 100-continue`."""

import json

import pytest

from tests.core.server.requests import CHUNKED
from tests.harness.wire import Wire, chunks, get, post

PET = json.dumps({"name": "Rex", "categoryId": 7}).encode()
LIMIT = 64 * 1024
LONGEST = PET.ljust(LIMIT)


@pytest.mark.parametrize(
    ("line", "body"),
    [
        (CHUNKED, chunks(*(PET[i : i + 1] for i in range(len(PET))))),
        (CHUNKED, b"%x;name=value\r\n%s\r\n0\r\n\r\n" % (len(PET), PET)),
        (CHUNKED, b"000%X\r\n%s\r\n000\r\n\r\n" % (len(PET), PET)),
        (CHUNKED, b"%x\r\n%s\r\n0\r\nX-Sum: 1\r\n\r\n" % (len(PET), PET)),
        (f"Content-Length: {LIMIT}", LONGEST),
        (CHUNKED, chunks(LONGEST)),
        (CHUNKED, chunks(*(LONGEST[i : i + 1] for i in range(LIMIT)))),
    ],
)
def test_body_of_at_most_the_limit_is_read(
    wire: Wire, key: str, line: str, body: bytes
):
    assert wire.send(post(key, line) + body).answer().status == 201
    assert wire.send(get(key)).answer().json[0]["name"] == "Rex"


@pytest.mark.parametrize(
    ("line", "body"),
    [
        (f"Content-Length: {LIMIT + 1}", LONGEST + b" " + get("none")),
        (CHUNKED, chunks(LONGEST + b" ") + get("none")),
        ("Content-Length: 18446744073709551615", b""),
        (CHUNKED, b"ffffffff\r\n" + b"x" * (LIMIT + 1)),
        (CHUNKED, chunks(*[b"x"] * (LIMIT + 1))),
        (CHUNKED, b"1;" + b"x" * 7 * LIMIT),
    ],
)
def test_oversized_body_is_refused_without_waiting_for_its_end(
    wire: Wire, key: str, line: str, body: bytes
):
    answer = wire.send(post(key, line) + body).answer()
    assert (answer.status, answer.json["code"]) == (413, "body_too_large")
    assert answer.headers["Connection"] == "close"
    assert wire.is_closed()


def test_trailers_do_not_override_headers(wire: Wire, key: str):
    trailers = b"Authorization: Bearer none\r\nX-Request-ID: late\r\n\r\n"
    wire.send(post(key, CHUNKED) + chunks(PET)[:-2] + trailers)
    answer = wire.answer()
    assert (answer.status, answer.headers["X-Request-ID"] == "late") == (201, False)


def test_expect_100_continue_gets_an_interim_response(wire: Wire, key: str):
    wire.send(post(key, f"Content-Length: {len(PET)}", "Expect: 100-continue"))
    assert [wire.line(), wire.line()] == ["HTTP/1.1 100 Continue", ""]
    assert wire.send(PET).answer().status == 201
