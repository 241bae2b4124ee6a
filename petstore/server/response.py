"""Turns the response of a WSGI application into HTTP/1.1 (PEP 3333, RFC 9112)."""

import functools
from collections.abc import Callable, Generator, Iterator
from email.utils import formatdate
from typing import Any
from wsgiref.types import WSGIApplication

from petstore import clock
from petstore.clock import MS_PER_SECOND

# A longer body is sent in pieces, as the client reads them.
MAX_WHOLE_BYTES = 64 * 1024
STATUSES_WITHOUT_BODY = ("1", "204", "304")  # "1" stands for all 1xx


class Response:
    """The response to one request.

    `is_last` is asked when the response is sent: will the connection end after it?
    """

    def __init__(self, environ: dict[str, Any], *, is_last: Callable[[], bool]) -> None:
        self._environ = environ
        self._is_last = is_last
        self._status = ""
        self._headers: list[tuple[str, str]] = []
        self._written: list[bytes] = []
        # Whether only its end tells the client where the response ends.
        self.ends_connection = False

    def pieces(self, application: WSGIApplication) -> Generator[bytes, None, None]:
        """Call the application and yield the response, usually in one piece.

        Raises `ValueError` if a header contains a line break, since a client would read
        two headers, and whatever the application raises.
        """
        parts = application(self._environ, self._start_response)
        try:
            rest = iter(parts)
            body = b"".join(self._written)
            for part in rest:
                body += part
                if len(body) > MAX_WHOLE_BYTES:
                    yield from self._long_body(body, rest)
                    return
            if self._may_have_body() and not self._has_length():
                self._headers = [*self._headers, ("Content-Length", str(len(body)))]
            yield self._head() + body
        finally:
            if hasattr(parts, "close"):
                parts.close()

    def _long_body(self, begun: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
        """Yield a body as its parts come, in chunks if its length is unknown.

        HTTP/1.0 has no chunks: there the body ends with the connection.
        """
        if self._has_length() or self._environ["SERVER_PROTOCOL"] == "HTTP/1.0":
            self.ends_connection = not self._has_length()
            yield self._head() + begun
            yield from rest
            return
        self._headers = [*self._headers, ("Transfer-Encoding", "chunked")]
        yield self._head() + _chunk(begun)
        yield from map(_chunk, filter(None, rest))
        yield _chunk(b"")

    def _start_response(
        self, status: str, headers: list[tuple[str, str]], _exc_info: object = None
    ) -> Callable[[bytes], None]:
        self._status, self._headers = status, headers
        return self._written.append

    def _has_length(self) -> bool:
        return any(name == "Content-Length" for name, _ in self._headers)

    def _may_have_body(self) -> bool:
        is_head = self._environ["REQUEST_METHOD"] == "HEAD"
        return not is_head and not self._status.startswith(STATUSES_WITHOUT_BODY)

    def _head(self) -> bytes:
        lines = [f"{name}: {value}" for name, value in self._headers if name != "Date"]
        is_last = self.ends_connection or self._is_last()
        connection = "close" if is_last else "keep-alive"
        start = (
            f"HTTP/1.1 {self._status}",
            f"Date: {_date(clock.now_ms() // MS_PER_SECOND)}",
        )
        head = "\r\n".join((*start, f"Connection: {connection}", *lines, "\r\n"))
        line_breaks = len(lines) + 4
        if not head.count("\r") == head.count("\n") == line_breaks:
            raise ValueError(f"a header contains a line break: {lines}")
        return head.encode("latin-1")


def _chunk(data: bytes) -> bytes:
    """Return a chunk; an empty one ends the body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


@functools.lru_cache(2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
