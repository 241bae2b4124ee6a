"""Turns the response of a WSGI application into HTTP/1.1 (PEP 3333, RFC 9112)."""

import functools
from collections.abc import Callable, Iterator
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

    def pieces(self, application: WSGIApplication) -> Iterator[bytes]:
        """Call the application and yield the response, usually in one piece.

        Raises `ValueError` if a header contains a line break, since a client would read
        two headers, and whatever the application raises.
        """
        parts = application(self._environ, self._start_response)
        try:
            length = self._content_length()
            if length is not None and length > MAX_WHOLE_BYTES:
                yield self._head()
                yield from parts
                return
            body = b"".join((*self._written, *parts))
            if length is None and self._may_have_body():
                self._headers = [*self._headers, ("Content-Length", str(len(body)))]
            yield self._head() + body
        finally:
            if hasattr(parts, "close"):
                parts.close()

    def _start_response(
        self, status: str, headers: list[tuple[str, str]], _exc_info: object = None
    ) -> Callable[[bytes], None]:
        self._status, self._headers = status, headers
        return self._written.append

    def _content_length(self) -> int | None:
        """Return the Content-Length that the application has set, or None."""
        for name, value in self._headers:
            if name == "Content-Length":
                return int(value)
        return None

    def _may_have_body(self) -> bool:
        is_head = self._environ["REQUEST_METHOD"] == "HEAD"
        return not is_head and not self._status.startswith(STATUSES_WITHOUT_BODY)

    def _head(self) -> bytes:
        lines = [f"{name}: {value}" for name, value in self._headers if name != "Date"]
        connection = "close" if self._is_last() else "keep-alive"
        start = (
            f"HTTP/1.1 {self._status}",
            f"Date: {_date(clock.now_ms() // MS_PER_SECOND)}",
        )
        head = "\r\n".join((*start, f"Connection: {connection}", *lines, "\r\n"))
        line_breaks = len(lines) + 4
        if not head.count("\r") == head.count("\n") == line_breaks:
            raise ValueError(f"a header contains a line break: {lines}")
        return head.encode("latin-1")


@functools.lru_cache(2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
