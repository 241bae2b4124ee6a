"""The file of an import is longer than other bodies, and read by the application."""

import time
from collections.abc import Callable

import pytest

from petstore.extensions.dashboard.sessions import COOKIE
from tests.core.server.requests import CHUNKED
from tests.harness.form_keys import form_key
from tests.harness.gunicorn_fixtures import key, serve, server_environ, service, wire
from tests.harness.servers import Gunicorn
from tests.harness.visitors import Visitor
from tests.harness.wire import Wire, get, is_served

__all__ = ["key", "serve", "server_environ", "service", "wire"]  # fixtures
IMPORT = "/dashboard/animals/import"
FORM = b'--x\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\n'
FILE = b"name,category\n" + b"Rex,Dogs\n" * 560_000  # 4.8 MiB
BODY = FORM + FILE + b"\r\n--x--\r\n"
LENGTH = f"Content-Length: {len(BODY)}"
KEY = '--x\r\nContent-Disposition: form-data; name="idempotency_key"\r\n\r\n{}\r\n'
EXPECT = "Expect: 100-continue"
CONTINUE = ["HTTP/1.1 100 Continue", ""]


@pytest.fixture(scope="module")
def impatient(serve: Callable[..., Gunicorn]) -> Gunicorn:
    """A service in which a file has as little time as any request."""
    return serve(limits={"request_seconds": 2.0, "upload_seconds": 2.0})


def head(cookie: str, *lines: str, path: str = IMPORT) -> bytes:
    kind = "Content-Type: multipart/form-data; boundary=x"
    lines = (f"POST {path} HTTP/1.1", "Host: x", f"Cookie: {cookie}", kind, *lines)
    return "\r\n".join([*lines, "", ""]).encode()


def sign_in(service: Gunicorn, key: str) -> str:
    """Return the header of somebody who has signed in behind a proxy."""
    value = Visitor(service.url, key).cookie.partition("=")[2]
    return f"{COOKIE}={value}"


def sent(cookie: str, *lines: str, body: bytes = BODY) -> tuple[bytes, bytes]:
    """Return head and body of a form of a page that the cookie has opened."""
    body = KEY.format(form_key(cookie.partition("=")[2])).encode() + body
    return head(cookie, f"Content-Length: {len(body)}", *lines), body


@pytest.fixture
def cookie(service: Gunicorn, key: str) -> str:
    """The header of somebody who has signed in to the shared service."""
    return sign_in(service, key)


def test_file_of_4_8_mib_goes_in_while_others_are_served(
    service: Gunicorn, wire: Wire, key: str, cookie: str
):
    head, body = sent(cookie)
    wire.send(head)
    for start in range(0, len(body), 1_000_000):
        assert is_served(service.url, key, "/healthz")
        wire.send(body[start : start + 1_000_000])
    answer = wire.answer()
    assert (answer.status, answer.headers["Connection"]) == (303, "close")
    assert answer.headers["Location"].startswith(IMPORT)
    assert wire.is_closed()


def test_file_is_waited_for_only_when_the_application_reads_it(wire: Wire, cookie: str):
    head, body = sent(cookie, EXPECT)
    wire.send(head)
    assert [wire.line(), wire.line()] == CONTINUE
    assert wire.send(body).answer().status == 303


@pytest.mark.parametrize("expects", [[], [EXPECT]])
@pytest.mark.parametrize("begun", [b"", BODY[:100_000]])
def test_stranger_is_refused_by_the_head(wire: Wire, expects: list[str], begun: bytes):
    answer = wire.send(head("", LENGTH, *expects) + begun).answer()
    assert (answer.status, answer.headers["Connection"]) == (413, "close")
    assert wire.is_closed()


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        (f"{IMPORT}/x", [LENGTH]),
        ("/dashboard/animals", [LENGTH]),
        (IMPORT, [f"Content-Length: {6 * 1024**2}"]),
        (IMPORT, [CHUNKED]),
    ],
)
def test_other_long_bodies_are_refused(
    wire: Wire, cookie: str, path: str, lines: list[str]
):
    chunk = b"%x\r\n" % len(BODY) if lines == [CHUNKED] else b""
    answer = wire.send(head(cookie, *lines, path=path) + chunk + BODY[:90_000]).answer()
    assert (answer.status, answer.headers["Connection"]) == (413, "close")


def test_file_above_5_mib_is_refused_in_words(wire: Wire, cookie: str):
    head, body = sent(cookie, body=BODY.replace(FILE, b"x" * (5 * 1024**2 + 1)))
    answer = wire.send(head + body).answer()
    assert answer.status == 413
    assert b"The file has more than 5 MiB. Send only the columns" in answer.content


@pytest.mark.parametrize("is_signed_in", [True, False])
@pytest.mark.parametrize("path", [IMPORT, "/v1/pets", "/healthz", "/nowhere"])
def test_nothing_after_a_long_body_or_in_it_is_a_request(
    wire: Wire, key: str, cookie: str, path: str, is_signed_in: bool
):
    smuggled = get(key) * 1000  # more than 64 KiB
    length = f"Content-Length: {len(smuggled)}"
    begun = head(cookie if is_signed_in else "", length, EXPECT, path=path)
    wire.send(begun + smuggled + get(key))
    answers = wire.rest().removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert answers.count(b"HTTP/1.1 ") == answers.count(b"Connection: close") == 1


def test_file_that_stalls_is_refused_after_its_time(impatient: Gunicorn, key: str):
    head, body = sent(sign_in(impatient, key))
    started = time.monotonic()
    with Wire(impatient.url) as wire:
        answer = wire.send(head + body[:100_000]).answer()
        assert time.monotonic() - started > 1.9
        assert (answer.status, answer.headers["Connection"]) == (400, "close")
        assert b"It has not arrived as a whole in time." in answer.content
        assert is_served(impatient.url, key)
