"""One client's connection: bytes in until a request is whole, bytes out until sent."""

import io
import socket
import time
from contextlib import suppress
from typing import Any

from gunicorn.http.message import Request

from petstore.edge.exchange import base_environ
from petstore.edge.framing import (
    MAX_BODY_BYTES,
    TOO_LONG,
    DirectRequest,
    Framing,
    Options,
    Received,
    has_whole_head,
)
from petstore.fibers import has_come

READ_BYTES = 64 * 1024
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Connection:
    """A socket that never blocks, what came of the next request, and what is to go."""

    def __init__(self, client: socket.socket, address: Any, server: Any) -> None:
        client.setblocking(False)
        self.socket = client
        self.descriptor = client.fileno()
        self.address = address
        self.environ = base_environ(address, server)
        self.since = self.deadline = 0.0
        self.is_busy = False  # its request is in progress
        self.is_idle = False  # between two requests
        self.is_closing = False  # to be closed when all is sent
        self.is_cut = False  # the client may be sending what nobody will read
        self.has_more = False  # further requests may have come already
        self._lingers_until: float | None = None
        self._received = bytearray()
        self._outgoing = bytearray()
        self._request: Request | None = None
        self._framing: Framing | None = None
        self._unreader = Received()

    def give(self, seconds: float) -> None:
        """Set the time within which the client has to get on."""
        self.since = time.monotonic()
        self.deadline = self.since + seconds

    def is_late(self, now: float) -> bool:
        """Whether the client's time is over.

        What has come, and waits for its turn, has come in time.
        """
        if now <= self.deadline:
            return False
        has_begun = self._received or self._request or self._outgoing or self.is_cut
        return bool(has_begun) or not has_come(self.descriptor)

    def read(self) -> bool:
        """Take what has come; False when the client has gone."""
        try:
            received = self.socket.recv(READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not self.is_cut:
            self._received += received
        return bool(received)

    def next_request(self, cfg: Options) -> Request | None:
        """The next request once it is whole; raises what gunicorn's parser raises."""
        if self._request is None and not self._parse_head(cfg):
            return None
        request = self._request
        length = self._framing.end_of_body(self._received)
        if length is None:
            if request._expected_100_continue:
                self.send(CONTINUE)
                request._expected_100_continue = False
            return None
        self._request = None
        if length == TOO_LONG:
            request._expected_100_continue = False
            self.cut()
        else:
            self._unreader.feed(self._received[:length])
            del self._received[:length]
        if self._framing.is_chunked:
            _join_chunks(request, length == TOO_LONG)
        return request

    def send(self, data: bytes) -> None:
        """Take what is to go."""
        self._outgoing += data

    def flush(self) -> bool:
        """Send as much as the client takes; whether that was all."""
        try:
            while self._outgoing:
                del self._outgoing[: self.socket.send(self._outgoing)]
        except BlockingIOError:
            return False
        except OSError:
            self._outgoing.clear()
            self.is_closing = True
        return True

    def has_sent(self) -> bool:
        """Whether nothing is waiting to be sent."""
        return not self._outgoing

    def is_silent(self) -> bool:
        """Whether nothing of a request has come, and no answer is on its way."""
        return not (self._received or self._request or self._outgoing)

    def cut(self) -> None:
        """Read no further: what comes cannot be understood, or will not be needed."""
        self.is_cut = self.is_closing = True
        self._received.clear()

    def linger(self, silent_seconds: float, seconds: float) -> None:
        """Tell the client that this was all, and let it finish for a while.

        Closing while it still sends would take the answer away from it.
        """
        if self._lingers_until is None:
            self._lingers_until = time.monotonic() + seconds
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
        self.give(min(silent_seconds, self._lingers_until - time.monotonic()))

    def _parse_head(self, cfg: Options) -> bool:
        if self._received.startswith(b"\r\n"):  # RFC 9112 section 2.2
            del self._received[:2]
        if not has_whole_head(self._received):
            return False
        self._unreader = Received()
        self._unreader.feed(self._received)
        self._request = DirectRequest(cfg, self._unreader, self.address)
        self._received = bytearray(self._unreader.take_buffered())
        self._framing = Framing(self._request)
        return True


def _join_chunks(request: Request, is_too_long: bool) -> None:
    """Make it a request that says how long its body is, as the others do."""
    body = b"" if is_too_long else request.body.read()
    length = MAX_BODY_BYTES + 1 if is_too_long else len(body)
    request.body = io.BytesIO(body)
    request.headers = [h for h in request.headers if h[0] != "TRANSFER-ENCODING"]
    request.headers.append(("CONTENT-LENGTH", str(length)))
