"""The connection of one client: its requests are answered one at a time.

A response becomes HTTP/1.1 here (PEP 3333, RFC 9112).
"""

import fcntl
import functools
import socket
import termios
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from email.utils import formatdate
from itertools import chain
from typing import Any
from wsgiref.types import WSGIApplication

from gunicorn.http.body import Body, LengthReader
from gunicorn.http.unreader import IterUnreader
from gunicorn.http.wsgi import base_environ

from petstore import clock, timeouts
from petstore.errors import BODY_SECONDS, UNREADABLE, ErrorResponse
from petstore.server.request import RequestReader
from petstore.settings import SERVER_SOFTWARE

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
PEEK_BYTES = 512
INT_BYTES = 4  # of C
STATUSES_WITHOUT_BODY = ("1", "204", "304")  # "1" stands for all 1xx


class ClientGone(Exception):
    """The client has disconnected, or was too slow."""


class Connection:
    """Reads the requests of a client and sends the responses, within time limits."""

    def __init__(self, worker: Any, client: socket.socket, address: Any) -> None:
        self._worker = worker  # a Worker, whose module imports this one
        self._client = client
        self._base_environ = _base_environ(worker.cfg, client, address)
        self._reader = RequestReader(self._base_environ)
        self._is_last = False  # whether the connection ends after this response
        self.is_new = True  # no request has arrived yet
        self.is_idle = True  # nothing of the next request has arrived

    def serve(self) -> None:
        try:
            with suppress(ClientGone):  # nobody is there to be answered
                self._serve()
        except Exception:
            self._worker.log.exception("unexpected failure of a connection")
        finally:
            self._worker.remove_waiting(self)
            self._client.close()
            self._reader.close()

    def end(self) -> None:
        """End a connection that waits; a request that has arrived is still answered."""
        self._worker.remove_waiting(self)
        how = socket.SHUT_RD if self.is_idle else socket.SHUT_RDWR
        with suppress(OSError):  # the client has disconnected
            self._client.shutdown(how)

    def _serve(self) -> None:
        seconds = timeouts.LIMITS.request_seconds
        while environ := self._next_request(seconds):
            self.is_new = False
            self._worker.count_request()
            self._respond(environ)
            if self._is_last:
                self._linger()
                return
            seconds = self._worker.cfg.keepalive

    def _next_request(self, seconds: float) -> dict[str, Any] | None:
        """Return the environ of a request that begins in time, or None."""
        self.is_idle = True
        self._worker.add_waiting(self)
        try:
            received = self._receive(seconds)
            self.is_idle = False
            ends = clock.monotonic() + timeouts.LIMITS.request_seconds
            while received and not self._completes_request(received):
                self._worker.add_waiting(self)
                received = self._receive(ends - clock.monotonic())
        except ErrorResponse as error:
            return self._unreadable(error)
        finally:
            self._worker.remove_waiting(self)
        self._is_last = self._reader.is_last
        return self._pop_environ() if received else None

    def _pop_environ(self) -> dict[str, Any]:
        length, expects = self._reader.late_bytes, self._reader.expects_continue
        environ = self._reader.pop_environ()
        if length:
            pieces = self._late_pieces(environ, environ["wsgi.input"].read(), expects)
            environ["wsgi.input"] = Body(LengthReader(IterUnreader(pieces), length))
        return environ

    def _late_pieces(
        self, environ: dict[str, Any], begun: bytes, expects: bool
    ) -> Iterator[bytes]:
        """Yield a long body as it arrives; its time begins when it is first read."""
        seconds = environ.get(BODY_SECONDS, timeouts.LIMITS.request_seconds)
        ends = clock.monotonic() + seconds
        if expects:
            self._send(CONTINUE, timeouts.LIMITS.send_seconds)
        if begun:
            yield begun
        while True:
            self._worker.add_waiting(self)
            piece = self._receive(ends - clock.monotonic())
            self._worker.remove_waiting(self)
            yield piece

    def _completes_request(self, received: bytes) -> bool:
        self._reader.read(received)
        if self._reader.expects_continue and not self._reader.is_complete:
            self._reader.expects_continue = False
            self._send(CONTINUE, timeouts.LIMITS.send_seconds)
        return self._reader.is_complete

    def _unreadable(self, error: ErrorResponse) -> dict[str, Any]:
        """Return a request for which the application answers and logs the error."""
        self._is_last = True
        return self._base_environ | {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": "/v1",
            "QUERY_STRING": "",
            "SERVER_PROTOCOL": "HTTP/1.1",
            # A traceback would keep what was received until the garbage collector runs.
            UNREADABLE: error.with_traceback(None),
        }

    def _respond(self, environ: dict[str, Any]) -> None:
        """Send the response to a request; the client has a limited time to read it."""
        response = Response(environ, is_last=self._ends)
        ends = None
        with closing(response.pieces(self._worker.wsgi)) as pieces:
            for piece in pieces:
                ends = ends or clock.monotonic() + timeouts.LIMITS.send_seconds
                self._send(piece, ends - clock.monotonic())
        self._is_last |= response.ends_connection

    def _ends(self) -> bool:
        """Return whether the connection ends after the response that is sent now.

        It does if the client has sent more before the response: that is never read as a
        request (RFC 9112 sections 9.3.2 and 9.6), but blank lines may come (2.2).
        """
        is_ending = not self._worker.alive or not self._worker.cfg.keepalive
        self._is_last = self._is_last or is_ending or self._has_sent_more()
        return self._is_last

    def _has_sent_more(self) -> bool:
        """Return whether the client has sent more than blank lines."""
        with suppress(OSError):  # the client has disconnected
            # To read where there is nothing takes several times as long as to ask.
            if any(fcntl.ioctl(self._client, termios.FIONREAD, bytes(INT_BYTES))):
                received = self._client.recv(PEEK_BYTES, socket.MSG_PEEK)
                return bool(received.strip(b"\r\n"))
        return False

    def _linger(self) -> None:
        """Let a client that still sends read the last response (RFC 9112, 9.6)."""
        with suppress(OSError):
            self._client.shutdown(socket.SHUT_WR)
        self._worker.add_waiting(self)
        ends = clock.monotonic() + timeouts.LIMITS.linger_seconds
        while self._receive(ends - clock.monotonic()):
            pass

    def _receive(self, seconds: float) -> bytes:
        """Return what the client sends, or nothing if it will send no more.

        Raises `ClientGone`.
        """
        with suppress(OSError):  # the client has disconnected
            # After a timeout, look once more: if the process was suspended, the client
            # may have sent something in time.
            for limit in (max(seconds, 0), 0):
                self._client.settimeout(limit)
                with suppress(TimeoutError):
                    return self._client.recv(timeouts.LIMITS.read_bytes)
        raise ClientGone

    def _send(self, data: bytes, seconds: float) -> None:
        """Send bytes, usually at once; raises `ClientGone`."""
        try:
            self._client.settimeout(0)
            sent = 0
            with suppress(BlockingIOError):
                sent = self._client.send(data)
            if sent < len(data):
                self._worker.add_waiting(self)
                self._client.settimeout(max(seconds, 0))
                self._client.sendall(memoryview(data)[sent:])
                self._worker.remove_waiting(self)
        except OSError:
            raise ClientGone from None


class Response:
    """The response to one request; `is_last` says if the connection ends after it."""

    def __init__(self, environ: dict[str, Any], *, is_last: Callable[[], bool]) -> None:
        self._environ = environ
        self._is_last = is_last
        self._status = ""
        self._headers: list[tuple[str, str]] = []
        self._written: list[bytes] = []
        # Whether only the end of the connection tells the client where the body ends.
        self.ends_connection = False

    def pieces(self, application: WSGIApplication) -> Generator[bytes, None, None]:
        """Call the application and yield the response; a short one is one piece."""
        parts = application(self._environ, self._start_response)
        try:
            body = iter(parts)
            first = b"".join(self._written) + next(body, b"")
            if not self._is_chunked():
                yield self._head() + first
                yield from body
                return
            self._headers = [*self._headers, ("Transfer-Encoding", "chunked")]
            chunks = map(_chunk, filter(None, chain([first], body)))
            yield self._head() + next(chunks, b"")
            yield from chunks
            yield _chunk(b"")
        finally:
            if hasattr(parts, "close"):
                parts.close()

    def _start_response(
        self, status: str, headers: list[tuple[str, str]], _exc_info: object = None
    ) -> Callable[[bytes], None]:
        self._status, self._headers = status, headers
        return self._written.append

    def _is_chunked(self) -> bool:
        """Return whether chunks tell the client where the body ends.

        HTTP/1.0 has no chunks: a body of unknown length ends with the connection.
        """
        is_known = any(name == "Content-Length" for name, _ in self._headers)
        is_head = self._environ["REQUEST_METHOD"] == "HEAD"
        if is_known or is_head or self._status.startswith(STATUSES_WITHOUT_BODY):
            return False
        self.ends_connection = self._environ["SERVER_PROTOCOL"] == "HTTP/1.0"
        return not self.ends_connection

    def _head(self) -> bytes:
        lines = [f"{name}: {value}" for name, value in self._headers if name != "Date"]
        is_last = self.ends_connection or self._is_last()
        connection = "close" if is_last else "keep-alive"
        start = (
            f"HTTP/1.1 {self._status}",
            f"Date: {_date(clock.now_ms() // clock.MS_PER_SECOND)}",
            f"Connection: {connection}",
        )
        return "\r\n".join((*start, *lines, "\r\n")).encode("latin-1")


def _chunk(data: bytes) -> bytes:
    """Return a chunk; an empty one ends the body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def _base_environ(cfg: Any, client: socket.socket, address: Any) -> dict[str, Any]:
    # The address of a Unix socket is a path, and its clients have no address.
    remote, local = (
        name if isinstance(name, tuple) else ("", "")
        for name in (address, client.getsockname())
    )
    return {
        **base_environ(cfg),
        "SERVER_SOFTWARE": SERVER_SOFTWARE,
        # A socket for IPv6 and IPv4 writes 192.0.2.1 as ::ffff:192.0.2.1.
        "REMOTE_ADDR": remote[0].removeprefix("::ffff:" if "." in remote[0] else ""),
        "REMOTE_PORT": str(remote[1]),
        "SERVER_NAME": local[0] or "localhost",
        "SERVER_PORT": str(local[1]),
        "wsgi.url_scheme": "http",
        "wsgi.multithread": True,  # requests of other greenlets go on meanwhile
        "wsgi.input": None,
    }


@functools.lru_cache(1)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
