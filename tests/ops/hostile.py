"""Random malformed and hostile requests, reproducible by seed."""

import random
from collections.abc import Iterator

FORGED = '"}\n{"event":"request","status":200,"id":"forged"}'
METHODS = [
    *("GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT"),
    *("get", "G", "FOO", "PROPFIND", "A-B", "GET/", "!#$%&'*", "X" * 20, "X" * 200),
    *("GÄT", 'G"T', "GET\t", "{}"),
]
PATHS = [
    *("/v1/pets", "/v1/pets/1", "/v1/store/orders", "/v1/categories/5", "/docs", "/"),
    *("/v1", "/v1/", "/v1//pets", "//v1/pets", "/v1/pets/../../etc/passwd", "*", "x"),
    *("/v1/pets/%00", "/v1/pets/%0a%0d", "/v1/%e2%80%a8", "/v1/%ff%fe", "/%", "/%zz"),
    *("/v1/pets?status=%0a{}", "/v1/pets?limit=1&limit=2", "/v1/pets?a=" + "b" * 900),
    *("http://elsewhere.example/v1/pets", "http://[::1/v1", "/v1/pets#x", "/v1/pets;x"),
    *('/v1/"}{"event":1', "/v1/<script>", "/v1/Ä", "/v1/\x7f", "/v1/${jndi:ldap://x}"),
    *("/docs/swagger-ui/..%2f..%2f", "/docs/static/%2e%2e/page.py", "/openapi.json?x"),
    *("/healthz", "/metrics", "/" + "v" * 3000, "/v1/pets/" + "9" * 400),
]
VERSIONS = ["HTTP/1.1"] * 40 + [
    "HTTP/1.0",
    "HTTP/1.9",
    "HTTP/2.0",
    "HTTP/x",
    "http/1.1",
]
HOSTS = ["x"] * 20 + [
    "",
    "[::1",
    "a..b",
    "x" * 300 + ":99999",
    "x:-1",
    "$(id)",
    "ä",
    '"',
]
NAMES = [
    *("Authorization", "X-Request-ID", "X-Forwarded-For", "X-Forwarded-Proto"),
    *("Forwarded", "Content-Type", "Content-Encoding", "Accept", "Cookie", "Origin"),
    *("Idempotency-Key", "Referer", "User-Agent", "Upgrade", "Range", "Script-Name"),
    *("X-Forwarded-Host", "If-None-Match", "If-Modified-Since", "Accept-Encoding"),
    *("Access-Control-Request-Method", "Expect", "X-" * 60, "A_B", "Via"),
]
VALUES = [
    *("", "x", "ä", "\x1b[31mred", "\x00", "\x85", "a" * 5000, "{}", '"', "\\", "%0a"),
    *(FORGED.replace("\n", "%0a"), "Bearer", "Bearer pet_" + "0" * 48, "Basic eDp5"),
    *("Bearer \x80\xff", "127.0.0.1", "::1, a, b", "application/json", "gzip", "*/*"),
    *("application/json; charset=utf-7", "text/plain", "websocket", "bytes=0-,-1"),
    *("W/\x22x\x22", "$(id)", "%s%n", "../../etc/passwd", "1" * 400, "-1", "\xff"),
    *("Thu, 99 Foo 2030", "session=\x22", "a=b; a=c; ;;=", "\t", "é=\u00ad"),
]
BODIES = [
    *(b"", b"{}", b"[]", b"null", b"{", b'"', b"\x00", b"\xff\xfe", b"\xef\xbb\xbf{}"),
    *(b'{"name": "\\ud800", "categoryId": 1}', b'{"name": "x", "categoryId": 1e999}'),
    *(b"[" * 5000, b'{"a":' * 900, b"x" * 70_000, FORGED.encode(), b"\r\n\r\n"),
    *(b'{"name": "\\n\\u2028\\u0000", "categoryId": -0}', b"--x\r\n\r\n--x--"),
]


def requests(seed: int, count: int, key: str) -> Iterator[bytes]:
    """Yield `count` requests with `Connection: close`, determined by the seed.

    Most carry the key, so that they get past authentication.
    """
    chance = random.Random(seed)
    for _ in range(count):
        yield _request(chance, key)


def _request(chance: random.Random, key: str) -> bytes:
    method = chance.choice(
        chance.choice([METHODS[:2], METHODS[:2], METHODS[:9], METHODS])
    )
    version = chance.choice(VERSIONS)
    headers = [
        f"{name}: {chance.choice(VALUES)}"
        for name in chance.choices(NAMES, k=chance.choice([0, 1, 1, 1, 2, 4, 120]))
    ]
    if chance.random() < 0.6:
        headers.append(f"Authorization: Bearer {key}")
    body = chance.choice(BODIES) if method == "POST" else b""
    if body and chance.random() < 0.3:
        headers.append("Transfer-Encoding: chunked")
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    elif body:
        headers.append(f"Content-Length: {len(body)}")
    if chance.random() < 0.6:
        headers.append("Content-Type: application/json")
    if chance.random() < 0.95:
        headers.append(f"Host: {chance.choice(HOSTS)}")
    headers.append("Connection: close")
    chance.shuffle(headers)
    head = "\r\n".join([f"{method} {chance.choice(PATHS)} {version}", *headers, "", ""])
    return head.encode("latin-1") + body
