"""Requests that nobody can read, byte by byte."""

from tests.harness.wire import get, post

KEY = "none"
CHUNKED = "Transfer-Encoding: chunked"
HEAD = 16 * 1024
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
    "a length with a sign": post(KEY, "Content-Length: +32"),
    "a list of lengths": post(KEY, "Content-Length: 0, 32"),
    "chunks twice": post(KEY, "Transfer-Encoding: chunked, chunked"),
    "chunks that are not the last coding": post(KEY, CHUNKED + ", identity"),
    "a second coding": post(KEY, "Transfer-Encoding: identity", CHUNKED),
    "compressed chunks": post(KEY, "Transfer-Encoding: gzip, chunked"),
    "chunks in HTTP/1.0": post(KEY, CHUNKED).replace(b"HTTP/1.1", b"HTTP/1.0"),
    "a chunk without a number": post(KEY, CHUNKED) + b"zz\r\n",
    "a chunk that is longer than it says": post(KEY, CHUNKED)
    + b"3\r\nabcd\r\n0\r\n\r\n",
    "line feeds in chunks": post(KEY, CHUNKED) + b"3\nabc\n0\n\n",
    "a carriage return in an extension": post(KEY, CHUNKED) + b"3;a\rb\r\nabc\r\n",
    "a chunk of too many digits": post(KEY, CHUNKED) + b"5" * 2000,
    "a last chunk with a sign": post(KEY, CHUNKED) + b"-0\r\n\r\n",
    "a trailer without a colon": post(KEY, CHUNKED) + b"0\r\nno trailer\r\n\r\n",
}
TOO_LARGE = {
    "value": get(KEY, "X: " + "a" * HEAD),
    "target": get(KEY, path="/v1/" + "a" * HEAD),
    "name": get(KEY, "X" * HEAD + ": a"),
    "count": get(KEY, *["X: y"] * 99),
    "dropped": get(KEY, *["X_Y: z"] * 99),
    "semicolons": get(KEY, "Content-Type: " + ";" * 201),
    "commas": get(KEY, "If-None-Match: " + '"",' * 201),
    "repeated": get(KEY, *["Cookie: ;;;;"] * 51),
    "endless": get(KEY, *["X: y"] * 20_000)[:-2],
}
