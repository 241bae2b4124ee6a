"""Turns the response of a WSGI application into HTTP/1.1 (PEP 3333, RFC 9112)."""

import functools
from collections.abc import Callable, Generator
from email.utils import formatdate
from itertools import chain
from typing import Any
from wsgiref.types import WSGIApplication

from petstore import clock

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
        """Call the application and yield the response; a short one is one piece.

        Raises whatever the application raises.
        """
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

        HTTP/1.0 has none: there a body of unknown length ends with the connection.
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


@functools.lru_cache(1)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
