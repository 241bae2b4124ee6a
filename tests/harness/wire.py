"""A raw HTTP client that sends bytes exactly as given."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Self
from urllib.parse import urlsplit

from tests.harness.clients import Answer

# Less than the time that a slow client has, so that being blocked by one is noticed.
PATIENCE_SECONDS = 8


class Wire:
    """A connection to a service."""

    def __init__(
        self, url: str, *, receive_buffer: int | None = None, address: str = ""
    ) -> None:
        place = urlsplit(url)
        self.socket = socket.socket()
        self.socket.bind((address, 0))
        if receive_buffer:
            # Set before connecting, or a larger window is advertised.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect((place.hostname, place.port))
        self.socket.settimeout(PATIENCE_SECONDS)
        self._received = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *parts: bytes) -> Self:
        """Send each part with a call of its own."""
        for part in parts:
            self.socket.sendall(part)
        return self

    def line(self) -> str:
        """Return the next line received, without its line break."""
        while b"\r\n" not in self._received:
            self._receive()
        line, self._received = self._received.split(b"\r\n", 1)
        return line.decode()

    def answer(self, *, has_body: bool = True) -> Answer:
        """Return the next response."""
        status = int(self.line().split(" ")[1])
        headers = {}
        while line := self.line():
            name, value = line.split(": ", 1)
            headers[name] = value
        length = int(headers.get("Content-Length", 0)) if has_body else 0
        while len(self._received) < length:
            self._receive()
        content, self._received = self._received[:length], self._received[length:]
        return Answer(status, headers, content)

    def rest(self) -> bytes:
        """Return all that is received until the service closes the connection."""
        with suppress(ConnectionResetError):
            while received := self.socket.recv(65536):
                self._received += received
        return self._received

    def is_closed(self) -> bool:
        """Return whether the service closes the connection without sending more."""
        try:
            return not self._received and not self.socket.recv(1)
        except ConnectionResetError:
            return True

    def _receive(self) -> None:
        received = self.socket.recv(65536)
        assert received, f"closed after {self._received[:200]!r}"
        self._received += received


@contextmanager
def connected(
    url: str, *sent: bytes, receive_buffer: int | None = None
) -> Iterator[list[Wire]]:
    """Yield a connection for each of these that has sent it."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(Wire(url, receive_buffer=receive_buffer)).send(each)
            for each in sent
        ]


def is_served(url: str, key: str, path: str = "/v1/pets") -> bool:
    """Return whether another client gets a response with 200."""
    with Wire(url) as honest:
        return honest.send(get(key, path=path)).answer().status == 200


def get(key: str, *lines: str, path: str = "/v1/pets") -> bytes:
    """Return a GET request with these header lines added."""
    return _head(f"GET {path} HTTP/1.1", key, lines)


def post(key: str, *lines: str) -> bytes:
    """Return the head of a POST that adds an animal."""
    kind = "Content-Type: application/json"
    return _head("POST /v1/pets HTTP/1.1", key, (kind, *lines))


def chunks(*parts: bytes) -> bytes:
    """Return a chunked body with one chunk per part."""
    sent = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return sent + b"0\r\n\r\n"


def _head(request_line: str, key: str, lines: tuple[str, ...]) -> bytes:
    bearer = f"Authorization: Bearer {key}"
    return "\r\n".join([request_line, "Host: x", bearer, *lines, "", ""]).encode(
        "latin-1"
    )
