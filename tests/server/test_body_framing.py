"""Request bodies: lengths, chunks, the size limit and `Expect: 100-continue`."""

import json

import pytest

from tests.harness.wire import Wire, chunks, get, post

PET = json.dumps({"name": "Rex", "categoryId": 7}).encode()
CHUNKED = "Transfer-Encoding: chunked"
LENGTH = f"Content-Length: {len(PET)}"
LIMIT = 64 * 1024
LONGEST = PET.ljust(LIMIT)


@pytest.mark.parametrize(
    "body",
    [
        chunks(PET),
        chunks(*(PET[i : i + 1] for i in range(len(PET)))),
        b"%x;name=value\r\n%s\r\n0\r\n\r\n" % (len(PET), PET),
        b"000%X\r\n%s\r\n000\r\n\r\n" % (len(PET), PET),
        b"%020x\r\n%s\r\n0\r\n\r\n" % (len(PET), PET),
        b"%x\r\n%s\r\n0\r\nX-Sum: 1\r\n\r\n" % (len(PET), PET),
    ],
)
def test_chunked_body_is_decoded(wire: Wire, key: str, body: bytes):
    assert wire.send(post(key, CHUNKED) + body).answer().status == 201
    assert wire.send(get(key)).answer().json[0]["name"] == "Rex"


@pytest.mark.parametrize(
    "body",
    [
        b"zz\r\n",
        b"20;a\rb\r\n" + PET + b"\r\n0\r\n\r\n",
        b"20\r\n" + PET + b"XX0\r\n\r\n",
        b"10000000000000020\r\n" + PET + b"\r\n0\r\n\r\n",
        b"5" * 2000,
    ],
)
def test_malformed_chunks_are_refused(wire: Wire, key: str, body: bytes):
    answer = wire.send(post(key, CHUNKED) + body + get(key)).answer()
    assert (answer.status, answer.json["code"]) == (400, "invalid_request")
    assert wire.is_closed()


@pytest.mark.parametrize(
    ("line", "body"),
    [
        (f"Content-Length: {LIMIT}", LONGEST),
        (CHUNKED, chunks(LONGEST)),
        (CHUNKED, chunks(*(LONGEST[i : i + 1] for i in range(LIMIT)))),
    ],
    ids=["length", "chunk", "chunks of one byte"],
)
def test_body_of_exactly_the_limit_is_accepted(
    wire: Wire, key: str, line: str, body: bytes
):
    assert wire.send(post(key, line) + body).answer().status == 201


@pytest.mark.parametrize(
    ("line", "body"),
    [
        (f"Content-Length: {LIMIT + 1}", LONGEST + b" " + get("none")),
        (CHUNKED, chunks(LONGEST + b" ") + get("none")),
        ("Content-Length: 1000000000000", b"x" * 100),
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
    wire.send(post(key, LENGTH, "Expect: 100-continue"))
    assert [wire.line(), wire.line()] == ["HTTP/1.1 100 Continue", ""]
    assert wire.send(PET).answer().status == 201
