"""A client that sends whatever it is told to, byte for byte."""

import json
import socket
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

# Whoever waits longer is held up by others: a slow client has 10 s for its request.
PATIENCE_SECONDS = 8


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.content)


class Wire:
    """A connection to a service."""

    def __init__(self, url: str, *, receive_buffer: int | None = None) -> None:
        place = urlsplit(url)
        self.socket = socket.socket()
        if receive_buffer:
            # Before connecting, or the other side is told of a larger one.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect((place.hostname, place.port))
        self.socket.settimeout(PATIENCE_SECONDS)
        self._received = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *parts: bytes) -> Self:
        """Send bytes, each part in a packet of its own."""
        for part in parts:
            self.socket.sendall(part)
        return self

    def line(self) -> str:
        """The next line of what comes, without its end."""
        while b"\r\n" not in self._received:
            self._receive()
        line, self._received = self._received.split(b"\r\n", 1)
        return line.decode()

    def answer(self, *, has_body: bool = True) -> Answer:
        """The next answer."""
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

    def is_closed(self) -> bool:
        """Whether the other side ends it, without another word."""
        try:
            return not self._received and not self.socket.recv(1)
        except ConnectionResetError:
            return True

    def _receive(self) -> None:
        received = self.socket.recv(65536)
        assert received, f"closed after {self._received!r}"
        self._received += received


def get(key: str, *lines: str, path: str = "/v1/pets") -> bytes:
    """A GET as clients send it, with further header lines."""
    return _head(f"GET {path} HTTP/1.1", key, lines)


def post(key: str, *lines: str) -> bytes:
    """The head of a POST of an animal."""
    kind = "Content-Type: application/json"
    return _head("POST /v1/pets HTTP/1.1", key, (kind, *lines))


def chunks(*parts: bytes) -> bytes:
    """A chunked body."""
    sent = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return sent + b"0\r\n\r\n"


def _head(request_line: str, key: str, lines: tuple[str, ...]) -> bytes:
    bearer = f"Authorization: Bearer {key}"
    return "\r\n".join([request_line, "Host: x", bearer, *lines, "", ""]).encode(
        "latin-1"
    )
