"""RequestReader makes the same environs however its input is split."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from petstore.errors import ErrorResponse
from petstore.server.request import RequestReader
from tests.core.server.requests import CHUNKED, KEY, TOO_LARGE, UNREADABLE
from tests.harness.wire import chunks, get, post

PET = b'{"name": "Rex", "categoryId": 7}'
UPGRADE = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c")
READABLE = [
    get(KEY),
    get(KEY, "X:", "X:  y ", "Z: \xe9"),
    get(KEY, path="http://y:80/v1/pets?limit=1&q=http://z/"),
    get(KEY, *UPGRADE),
    b"\r\n" * 4 + get(KEY, "Content-Length: 0"),
    b"CONNECT * HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n\r\n\r\n",
    b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    post(KEY, f"Content-Length: {len(PET)}") + PET,
    post(KEY, f"Content-Length: {len(PET)}", *UPGRADE) + PET,
    post(KEY, "Transfer-Encoding: Chunked") + chunks(b"\r\n\r\n", PET, b"\r\n" * 5),
    post(KEY, CHUNKED, *UPGRADE) + chunks(PET, b"\r\n\r\n"),
    post(KEY, CHUNKED) + chunks(*[b"0\r\n\r\n"] * 3, b"0" * 20),
    post(KEY, CHUNKED) + b"000002;%s\r\n{}\r\n0\r\n\r\n" % (b"a" * 99),
    post(KEY, CHUNKED) + b"2;a=b\r\n{}\r\n0;c\r\nHost: y\r\n\r\n",
]
REFUSED = [each for each in (UNREADABLE | TOO_LARGE).values() if len(each) < 20_000]


def read(reader: RequestReader, parts: list[bytes]) -> Any:
    """Return the environ read from the parts, or the code of a refusal."""
    for part in parts:
        try:
            reader.read(part)
        except ErrorResponse as error:
            return error.code
        if reader.is_complete:
            break
    is_last = reader.is_last
    environ = reader.pop_environ()
    return environ | {"wsgi.input": environ["wsgi.input"].read()}, is_last


def split(sent: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(sent), *(cut for cut in cuts if cut < len(sent))})
    return [sent[a:b] for a, b in pairwise(places)]


@given(
    st.lists(st.sampled_from(READABLE), max_size=5),
    st.sampled_from([b"", *REFUSED]),
    st.lists(st.integers(0, 2000), max_size=20),
)
def test_requests_of_a_connection_split_anywhere_read_the_same(
    requests: list[bytes], end: bytes, cuts: list[int]
):
    readers = RequestReader({}), RequestReader({})
    for sent in (*requests, end or READABLE[0]):
        whole, parted = read(readers[0], [sent]), read(readers[1], split(sent, cuts))
        assert whole == parted
        assert isinstance(whole, str) == (sent == end)


def test_absolute_target_sets_the_host():
    sent = get(KEY, path="HTTP://[::1]:80?limit=1")
    environ, _ = read(RequestReader({}), [sent])
    assert environ["HTTP_HOST"] == "[::1]:80"
    assert (environ["PATH_INFO"], environ["QUERY_STRING"]) == ("/", "limit=1")
