"""What strangers send costs little, counted in calls of functions."""

from contextlib import suppress

from petstore.errors import ErrorResponse
from petstore.server.request import RequestReader
from petstore.timeouts import LIMITS
from tests.harness.calls import counted_calls
from tests.harness.wire import get, post

KIB = 1024
CHUNKED = post("none", "Transfer-Encoding: chunked")
# What is refused by its size alone, and is not looked at.
LARGE_HEADS = [
    b"\r\n" * 32 * KIB,
    get("none", "X: " + ";" * 60 * KIB),
    get("none", "X: " + ";" * 60 * KIB)[:-2],
    get("none", *["a:"] * 15_000),
    get("none", *["a:"] * 15_000)[:-2],
    get("none", *["a:"] * 3_000),
]
OTHERS = [
    b"\n" * 64 * KIB,
    CHUNKED + b"2\r\n\r\n\r\n" * 9_000,
    CHUNKED + b"1\r\nx\r\n" * 10_000,
    CHUNKED + b"1;a\r\nx\r\n" * 8_000,
    CHUNKED + b"ffff\r\n" + b"0\r\n\r\n" * 12_000,
    CHUNKED + b"1;" + b"a" * 64_000,
    CHUNKED + b"0\r\n" + b"a:b\r\n" * 12_000,
    get("none", "Cookie: " + ";" * 16_000),
]


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


def test_what_an_iteration_receives_is_read_in_a_bounded_number_of_calls():
    for sent in OTHERS:
        assert calls_of_a_read(sent) < 3_000, sent[:200]
    for sent in LARGE_HEADS:
        assert calls_of_a_read(sent) < 50, sent[:200]
