"""One request through the application, and its answer as bytes (PEP 3333)."""

import functools
import sys
import time
from collections.abc import Callable, Iterable
from email.utils import formatdate
from typing import Any
from urllib.parse import unquote_to_bytes

from gunicorn.http.message import Request

Application = Callable[[dict[str, Any], Callable], Iterable[bytes]]

# Headers that CGI names without HTTP_ (RFC 3875 section 4.1).
PLAIN_NAMES = {"CONTENT-TYPE": "CONTENT_TYPE", "CONTENT-LENGTH": "CONTENT_LENGTH"}
STATUSES_WITHOUT_BODY = ("1", "204", "304")


def base_environ(client: Any, server: Any) -> dict[str, Any]:
    """What holds for every request of a connection."""
    # A Unix socket has a path for an address, and its clients have none.
    remote = client if isinstance(client, tuple) else ("", "")
    local = server if isinstance(server, tuple) else ("localhost", "")
    return {
        "REMOTE_ADDR": remote[0],
        "REMOTE_PORT": str(remote[1]),
        "SERVER_NAME": local[0],
        "SERVER_PORT": str(local[1]),
        "SCRIPT_NAME": "",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.input_terminated": True,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }


class BrokenHeader(ValueError):
    """A header of an answer holds a line break: it would be read as another one."""


class Exchange:
    """What the application is told, and what it answers."""

    def __init__(self, request: Request, base_environ: dict[str, Any]) -> None:
        self.environ = _environ(request, base_environ)
        self.is_last = request.should_close()
        self._status = ""
        self._headers: list[tuple[str, str]] = []
        self._parts: list[bytes] = []

    def run(self, application: Application) -> bytes:
        """The whole answer; raises what the application raises, and `BrokenHeader`."""
        answer = application(self.environ, self._start_response)
        try:
            self._parts += answer
        finally:
            if hasattr(answer, "close"):
                answer.close()
        body = b"".join(self._parts)
        return self._head(len(body)) + body

    def _start_response(
        self, status: str, headers: list[tuple[str, str]], _exc_info: object = None
    ) -> Callable[[bytes], None]:
        self._status, self._headers = status, headers
        return self._parts.append

    def _head(self, length: int) -> bytes:
        lines = [f"{name}: {value}" for name, value in self._headers]
        if self._needs_length():
            lines.append(f"Content-Length: {length}")
        connection = "close" if self.is_last else "keep-alive"
        start = (f"HTTP/1.1 {self._status}", f"Date: {_date()}")
        head = "\r\n".join((*start, f"Connection: {connection}", *lines, "\r\n"))
        line_breaks = len(lines) + 4
        if not head.count("\r") == head.count("\n") == line_breaks:
            raise BrokenHeader(lines)
        return head.encode("latin-1")

    def _needs_length(self) -> bool:
        return not (
            self.environ["REQUEST_METHOD"] == "HEAD"
            or self._status.startswith(STATUSES_WITHOUT_BODY)
            or any(name == "Content-Length" for name, _ in self._headers)
        )


def _environ(request: Request, base_environ: dict[str, Any]) -> dict[str, Any]:
    environ = base_environ.copy()
    major, minor = request.version
    path = request.path
    if "%" in path:
        path = unquote_to_bytes(path).decode("latin-1")
    environ["REQUEST_METHOD"] = request.method
    environ["RAW_URI"] = request.uri
    environ["PATH_INFO"] = path
    environ["QUERY_STRING"] = request.query
    environ["SERVER_PROTOCOL"] = f"HTTP/{major}.{minor}"
    environ["wsgi.input"] = request.body
    for name, value in request.headers:
        key = PLAIN_NAMES.get(name) or f"HTTP_{name.replace('-', '_')}"
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    return environ


def _date() -> str:
    return _date_of(int(time.time()))


@functools.lru_cache(2)
def _date_of(second: int) -> str:
    return formatdate(second, usegmt=True)
