"""Strangers who send much that is cheap for them; floods.py starts them.

They run as a process of the lowest priority, since strangers do not live on the
machine of the service, until their standard input is closed. Then they print how many
bytes they have sent.
"""

import os
import random
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass

STRANGERS = 16
BYTES_PER_SECOND = 2_000_000  # of all strangers together
HOST = "pets.example.net"

POST = b"POST /v1/pets HTTP/1.1\r\nHost: %s\r\n" % HOST.encode()
FORM = POST.replace(b"/v1/pets", b"/dashboard/sign-in")
GET = POST.replace(b"POST", b"GET") + b"%s\r\n"
UNITS = (
    *(b"\r\n", b"\n", b";", b",", b'"', b"a&"),
    *(b"a=&", b"a:", b"[", b"{}", b"\\", b" "),
)
HEADERS = ("Cookie", "If-None-Match", "Content-Type", "X-Forwarded-For", "Accept", "X")
PATHS = (b"/v1/pets?%s", b"/docs?%s", b"/%s", b"/dashboard?%s", b"/v1/pets/%s")


def shape(dice: random.Random) -> bytes:
    """Return a request, or something else, that is long, many, nested or repeated."""
    unit = dice.choice(UNITS)
    much = unit * (dice.choice((10, 1_000, 15_000, 60_000)) // len(unit))
    shapes: list[Callable[[], bytes]] = [
        lambda: much + GET % b"",
        lambda: GET % b"%s: %s\r\n" % (dice.choice(HEADERS).encode(), much),
        lambda: GET % (b"X%d: y\r\n" * 99 % tuple(range(99))),
        lambda: GET % (b"%s: y\r\n" % (b"X" * dice.randrange(1, 15_000))),
        lambda: GET.replace(b"/v1/pets", dice.choice(PATHS) % much) % b"",
        lambda: _chunked(dice.choice((b"1\r\nx\r\n", b"2\r\n\r\n\r\n")) * 10_000),
        lambda: _chunked(b"%x\r\n%s\r\n0\r\n\r\n" % (len(much), much)),
        lambda: _chunked(b"1;%s\r\n" % much),
        lambda: _chunked(b"0\r\n" + b"a:b\r\n" * 10_000),
        lambda: _sized(POST, b"application/json", b'{"name":' + much),
        lambda: _sized(
            POST, b"application/json", b"{" + b'"a%d":1,' * 5 % (*range(5),) * 900
        ),
        lambda: _sized(FORM, b"application/x-www-form-urlencoded", much),
        lambda: _sized(
            FORM, b"multipart/form-data; boundary=a", b"--a\r\n\r\n" * 8_000
        ),
        lambda: POST + b"Content-Length: 60000\r\n\r\n" + much[:59_999],
    ]
    whole = dice.choice(shapes)()
    if dice.random() < 0.2:
        place = dice.randrange(len(whole))
        whole = whole[:place] + bytes([dice.randrange(256)]) + whole[place + 1 :]
    return whole


def _chunked(body: bytes) -> bytes:
    return POST + b"Transfer-Encoding: chunked\r\n\r\n" + body


def _sized(head: bytes, kind: bytes, body: bytes) -> bytes:
    lines = b"Content-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, len(body))
    return head + lines + body


# The certificate is not what is tested here, and loading those of the system with each
# connection would take the cores that the service runs on.
TRUSTING = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TRUSTING.check_hostname, TRUSTING.verify_mode = False, ssl.CERT_NONE


@dataclass(frozen=True)
class Place:
    """Where clients connect to."""

    port: int
    is_encrypted: bool = False

    def connect(self) -> socket.socket:
        """Return a new connection."""
        raw = socket.create_connection(("127.0.0.1", self.port), 10)
        if not self.is_encrypted:
            return raw
        return TRUSTING.wrap_socket(raw, server_hostname=HOST)


class Stranger(threading.Thread):
    """A thread that sends one thing after another."""

    def __init__(self, place: Place, seed: str) -> None:
        super().__init__(daemon=True)
        self._place = place
        self._dice = random.Random(seed)
        self.sent = 0

    def run(self) -> None:
        """Send for ever."""
        due = time.monotonic()
        while True:
            with suppress(OSError), closing(self._place.connect()) as stranger:
                stranger.settimeout(0.2)
                for _ in range(self._dice.randrange(1, 5)):
                    sent = shape(self._dice)
                    due = max(due, time.monotonic() - 1)
                    due += len(sent) * STRANGERS / BYTES_PER_SECOND
                    stranger.sendall(sent)
                    self.sent += len(sent)
                    time.sleep(max(0, due - time.monotonic()))
                    with suppress(TimeoutError):
                        stranger.recv(65536)


def main(port: str, is_encrypted: str, seed: str) -> None:
    """Be all strangers until the standard input is closed."""
    os.nice(19)
    place = Place(int(port), is_encrypted == "True")
    strangers = [Stranger(place, f"{seed} {number}") for number in range(STRANGERS)]
    for stranger in strangers:
        stranger.start()
    sys.stdin.read()
    print(sum(stranger.sent for stranger in strangers), flush=True)
    os._exit(0)  # without waiting for them


if __name__ == "__main__":
    main(*sys.argv[1:])
