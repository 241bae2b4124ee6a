"""What strangers send costs little, counted in calls of functions."""

from contextlib import suppress

import pytest

from petstore.errors import ErrorResponse
from petstore.server.request import RequestReader
from petstore.timeouts import LIMITS
from tests.harness.calls import counted_calls
from tests.harness.wire import get, post

KIB = 1024
CHUNKED = post("none", "Transfer-Encoding: chunked")
LETTERS = CHUNKED + b"ffff\r\n" + b"x" * 65_000
SHAPES = {
    "blank lines": b"\r\n" * 32 * KIB,
    "line feeds": b"\n" * 64 * KIB,
    "blank lines in a chunk": CHUNKED + b"ffff\r\n" + b"\r\n" * 32_000,
    "ends in a chunk": CHUNKED + b"ffff\r\n" + b"0\r\n\r\n" * 13_000,
    "blank lines as chunks": CHUNKED + b"2\r\n\r\n\r\n" * 9_000,
    "tiny chunks": CHUNKED + b"1\r\nx\r\n" * 10_000,
    "chunks with an extension": CHUNKED + b"1;a\r\nx\r\n" * 8_000,
    "one long extension": CHUNKED + b"1;" + b"a" * 64_000,
    "trailers": CHUNKED + b"0\r\n" + b"a:b\r\n" * 12_000,
    "a long header": get("none", "X: " + ";" * 60 * KIB),
    "a long header without an end": get("none", "X: " + ";" * 60 * KIB)[:-2],
    "many parts": get("none", "Cookie: " + ";" * 16_000),
    "many headers": get("none", *["a:"] * 15_000),
    "many headers without an end": get("none", *["a:"] * 15_000)[:-2],
    "many headers in a small head": get("none", *["a:"] * 3_000),
}


def calls_of_a_read(sent: bytes) -> int:
    """Return how many functions one callback of the event loop calls, at most."""
    reader, most, size = RequestReader({}), 0, LIMITS.read_bytes
    for start in range(0, len(sent), size):
        is_refused = True
        with counted_calls() as calls, suppress(ErrorResponse):
            reader.read(sent[start : start + size])
            is_refused = False
        most = max(most, len(calls))
        if is_refused or reader.is_complete:
            break
    return most


@pytest.mark.parametrize("shape", SHAPES)
def test_what_an_iteration_receives_is_read_in_a_bounded_number_of_calls(shape: str):
    assert calls_of_a_read(SHAPES[shape]) < 3_000


@pytest.mark.parametrize("shape", ["blank lines in a chunk", "ends in a chunk"])
def test_line_breaks_in_a_chunk_cost_what_letters_cost(shape: str):
    assert calls_of_a_read(SHAPES[shape]) == calls_of_a_read(LETTERS)


TOO_LARGE = ["blank lines", *(shape for shape in SHAPES if "header" in shape)]


@pytest.mark.parametrize("shape", TOO_LARGE)
def test_what_is_refused_by_its_size_is_not_looked_at(shape: str):
    assert calls_of_a_read(SHAPES[shape]) < 50
