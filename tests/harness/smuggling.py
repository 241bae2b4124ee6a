"""Request smuggling: requests that contain another one, with ambiguous ends.

Parsed correctly, each is refused or is a single request, with the other as its body.
"""

from collections.abc import Iterator
from typing import NamedTuple

CHUNKED = "Transfer-Encoding: chunked"
UPGRADES = ("Connection: Upgrade", "Upgrade: h2c")
END = b"0\r\n\r\n"

# Sent with a length; a server that takes one for `chunked` finds an empty body.
CODINGS = [
    *(CHUNKED, "transfer-encoding: CHUNKED", "Transfer-Encoding:\tchunked"),
    *("Transfer-Encoding : chunked", "Transfer-Encoding:\x0bchunked"),
    *("Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, identity"),
    *("Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, chunked"),
    *("Transfer-Encoding: chunked;q=1", "Transfer-Encoding: chunk\0ed"),
    *("Transfer-Encoding:\r\n chunked", "X: y\r\n Transfer-Encoding: chunked"),
    *("X: y\rTransfer-Encoding: chunked", "X: y\nTransfer-Encoding: chunked"),
    "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
    *("Transfer_Encoding: chunked", "\xffTransfer-Encoding: chunked"),
]
# Sent with a length; a server that takes one for 0 finds an empty body.
LENGTHS = [
    *("Content-Length: 0", "Content-Length: +0", "Content-Length : 0"),
    *("Content-Length: 0x0", "Content-Length: 0, {}", "Content-Length: {}, 0"),
    *("X: y\rContent-Length: 0", "X: y\nContent-Length: 0", "Content-Length: 00"),
]
# Sent as the last chunk of a body, before the inner request.
LAST_CHUNKS = [
    *(b"0\n\n", b"0\r\r", b" 0\r\n\r\n", b"0x0\r\n\r\n", b"-0\r\n\r\n"),
    *(b"0;\n\r\n", b'0;a="\r\n"\r\n\r\n', b"1\r\nxy\r\n0\r\n\r\n"),
    *(b"0\r\nno trailer\r\n\r\n", b"0\r\nContent-Length: 9\r\n\r\n"),
    *(b"10000000000000000\r\n\r\n", b"0\r\nTransfer-Encoding: chunked\r\n\r\n"),
]
PREFACES = [
    *(b"GET /v1/pets\r\n", b"GET /v1/pets\r\n\r\n", b"GET /v1/pets HTTP/0.9\r\n\r\n"),
    *(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET /v1/pets HTTP/2.0\r\nHost: x\r\n\r\n"),
    *(b"GET /v1/pets HTTP/1.1\r\n", b"GET /v1/pets HTTP/1.1\r\n\r\n", b"\0\r\n\r\n"),
    *(b"GET /v1/pets HTTP/1.1\rHost: x\r\r", b"GET /v1/pets HTTP/1.1\nHost: x\n\n"),
    *(b"GET /v1/pets HTTP/1.1 HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"),
]
ALWAYS_BODIES = ["GET", "HEAD", "DELETE", "OPTIONS", "CONNECT", "TRACE"]


class Smuggled(NamedTuple):
    """A named request that contains another one."""

    name: str
    content: bytes


def smuggled(host: str, key: str, outer: str, inner: str) -> Iterator[Smuggled]:
    """Yield every case, with these ids (X-Request-ID) of the two requests."""

    def request(name: str, start: str, lines: tuple[str, ...], body: bytes) -> Smuggled:
        return Smuggled(name, _head(start, host, key, outer, lines) + body)

    hidden = _head("GET /v1/pets?limit=1 HTTP/1.1", host, key, inner, ())
    after_end, chunk = END + hidden, b"%x\r\n%s\r\n" % (len(hidden), hidden)
    post, length = "POST /v1/pets HTTP/1.1", f"Content-Length: {len(hidden)}"
    for coding in CODINGS:
        both = (f"Content-Length: {len(after_end)}", coding)
        yield request(f"CL.TE {coding!r}", post, both, after_end)
        yield request(f"TE.CL {coding!r}", post, both[::-1], after_end)
    first_line = chunk.index(b"\n") + 1
    lines = (CHUNKED, f"Content-Length: {first_line}")
    yield request("TE.CL of the first line", post, lines, chunk + END)
    for line in LENGTHS:
        lines = (length, line.format(len(hidden)))
        yield request(f"CL.CL {line!r}", post, lines, hidden)
        yield request(f"CL.CL {line!r}, first", post, lines[::-1], hidden)
    for last in LAST_CHUNKS:
        yield request(f"chunks {last!r}", post, (CHUNKED,), last + hidden)
    yield request("chunks of HTTP/1.0", "POST /v1/pets HTTP/1.0", (CHUNKED,), after_end)
    for preface in PREFACES:
        yield Smuggled(f"preface {preface!r}", preface + hidden)
    for method in ALWAYS_BODIES:
        start = f"{method} /v1/pets HTTP/1.1"
        yield request(f"{method} with a length", start, (length,), hidden)
        yield request(f"{method} with chunks", start, (CHUNKED,), chunk + END)
        yield request(f"{method}, upgrade", start, (length, *UPGRADES), hidden)
    yield request("upgrade, chunks", post, (CHUNKED, *UPGRADES), chunk + END)
    yield request("expects", post, (length, "Expect: 100-continue"), hidden)
    for target in (f"http://{host}", "http://other.example", "https://other.example:1"):
        start = f"POST {target}/v1/pets HTTP/1.1"
        yield request(f"address {target}", start, (length,), hidden)
    trailers = END[:-2] + b"X-Request-ID: x\r\nHost: other.example\r\n\r\n"
    yield request("trailers", post, (CHUNKED,), chunk + trailers)


def _head(
    start: str, host: str, key: str, request_id: str, lines: tuple[str, ...]
) -> bytes:
    own = (f"Host: {host}", f"Authorization: Bearer {key}")
    own += (f"X-Request-ID: {request_id}",)
    return "\r\n".join((start, *own, *lines, "", "")).encode("latin-1")
