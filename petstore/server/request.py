"""Reads requests with httptools and builds their WSGI environ (PEP 3333)."""

import io
import re
from typing import Any
from urllib.parse import unquote_to_bytes

import httptools

from petstore import timeouts
from petstore.errors import MAX_BODY_BYTES, ErrorResponse, InvalidRequest

# A chunk with one byte of data takes six bytes. What is longer than a body of such
# chunks contains chunk extensions or trailers.
MAX_REQUEST_BYTES = timeouts.LIMITS.head_bytes + 6 * (MAX_BODY_BYTES + 1)

MAX_LENGTH_DIGITS = 20  # of a Content-Length; int() fails with more than 4,300
ABSOLUTE_TARGET = re.compile(rb"(?i:https?)://([^/:][^/]*)(/.*)?")
HOST = re.compile(  # RFC 3986 section 3.2, without user information
    r"(\[[0-9a-z._~!$&'()*+,;=%:-]+\]|[0-9a-z._~!$&'()*+,;=%-]*)(:[0-9]*)?",
    re.IGNORECASE,
)
# A second one of these would be ambiguous. Other headers may be lists: they are joined.
SINGLE_HEADERS = {"HTTP_HOST", "HTTP_IDEMPOTENCY_KEY"}
CGI_NAMES = ("CONTENT_TYPE", "CONTENT_LENGTH")  # the others begin with `HTTP_`


class RequestReader:
    """Reads the requests of a connection, one at a time, from bytes as they arrive.

    httptools calls its methods `on_…`.
    """

    def __init__(self, base_environ: dict[str, Any]) -> None:
        self._base_environ = base_environ
        self._parser = httptools.HttpRequestParser(self)
        self._begin()

    def _begin(self) -> None:
        self.is_complete = False  # the application can be called
        self.is_last = False  # the connection is closed after it
        self.expects_continue = False
        self.received_bytes = 0  # of the request, with its framing
        self._environ = self._base_environ.copy()
        self._head = b""  # as far as it has arrived
        self._url = b""
        self._has_head = self._is_chunked = False
        self._length = 0  # of the body, unless it is chunked
        self.late_bytes = 0  # of a long body, which the application may read itself
        self._header_count = 0  # of the head, or of the trailers
        self._body = bytearray()

    def read(self, data: bytes) -> None:
        """Read bytes of the current request; raises `ErrorResponse` for a refused one.

        If more than blank lines follow it, it is the last request of the connection.
        """
        self.received_bytes += len(data)
        if not self._has_head:
            self._check_head(data)
        try:
            self._feed(data)
        except httptools.HttpParserError as error:
            if not self.is_complete:
                raise _refusal(error) from None
            self.is_last = True
        length = max(self._length, len(self._body))
        if length > MAX_BODY_BYTES or self.received_bytes > MAX_REQUEST_BYTES:
            self._leave_body()

    def pop_environ(self) -> dict[str, Any]:
        environ = self._environ
        environ["wsgi.input"] = io.BytesIO(self._body)
        self._begin()
        return environ

    def close(self) -> None:
        # The parser refers to the reader: together they would keep what was received
        # until the garbage collector runs.
        del self._parser

    def _check_head(self, data: bytes) -> None:
        """Refuse a head that is too large before it is parsed.

        Each header costs a dozen calls of Python functions.
        """
        limits = timeouts.LIMITS
        self._head += data
        begun = self._head.lstrip(b"\r\n")  # RFC 9112 section 2.2
        if len(self._head) - len(begun) > limits.blank_lines * len(b"\r\n"):
            raise InvalidRequest("There are too many empty lines before the request.")
        head, end, _ = begun.partition(b"\r\n\r\n")
        count = head.rstrip(b"\r\n").count(b"\n")
        if count > limits.headers or len(head) + len(end) > limits.head_bytes:
            raise _headers_too_large()

    def _feed(self, data: bytes) -> None:
        """Parse bytes, and ignore a request to switch protocols (RFC 9110 section 7.8).

        The parser stops after the head of such a request, and leaves the rest to the
        other protocol. The body still has to be read: a new parser reads it, after a
        short head that only tells it how long the body is. `on_headers_complete` does
        not run for that head, since `_has_head` is set.
        """
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._parser = httptools.HttpRequestParser(self)
            length = f"Content-Length: {self._length}"
            framing = "Transfer-Encoding: chunked" if self._is_chunked else length
            self.is_complete = False
            head = f"POST / HTTP/1.1\r\n{framing}\r\n\r\n".encode()
            self._feed(head + data[upgrade.args[0] :])

    def on_message_begin(self) -> None:
        if self.is_complete:
            raise InvalidRequest("The response has not been sent yet.")

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header to the environ, unless it is a trailer of a chunked body.

        A name with `_` is left out: in the environ it would look like the one with a
        hyphen, which a proxy may have set.
        """
        self._header_count += 1
        if self._header_count > timeouts.LIMITS.headers:
            raise _headers_too_large()
        if self._has_head or b"_" in name:
            return
        key = name.decode("ascii").upper().replace("-", "_")
        if key not in CGI_NAMES:
            key = f"HTTP_{key}"
        if key in self._environ:
            if key in SINGLE_HEADERS:
                twice = f"The request has more than one {name.decode()} header."
                raise InvalidRequest(twice)
            value = self._environ[key].encode("latin-1") + b"," + value
        limit = timeouts.LIMITS.header_parts
        if len(value) > limit and value.count(b",") + value.count(b";") > limit:
            excess = f"A header has more than {limit} commas and semicolons."
            raise ErrorResponse("headers_too_large", excess)
        self._environ[key] = value.strip(b" \t").decode("latin-1")

    def on_headers_complete(self) -> None:
        """Raise `InvalidRequest` if another server could read the head differently."""
        if self._has_head:
            return
        self._has_head = True
        self._head = b""
        self._header_count = 0
        version = self._parser.get_http_version()
        if version not in ("1.0", "1.1"):
            raise InvalidRequest("Only HTTP/1.0 and HTTP/1.1 are supported.")
        self._environ["SERVER_PROTOCOL"] = f"HTTP/{version}"
        self._environ["REQUEST_METHOD"] = self._parser.get_method().decode()
        host = self._environ.get("HTTP_HOST", "" if version == "1.0" else "?")
        if not HOST.fullmatch(host):
            raise InvalidRequest("The request needs a valid Host header.")
        self._set_target()
        self._read_framing(version)

    def on_body(self, piece: bytes) -> None:
        self._body += piece

    def on_message_complete(self) -> None:
        if self._is_chunked:
            self._environ["CONTENT_LENGTH"] = str(len(self._body))
        self.is_complete = True
        if not self._parser.should_keep_alive():
            self.is_last = True

    def _set_target(self) -> None:
        """Set path, query and the host of an absolute target (RFC 9112 section 3.2).

        That host takes precedence over the Host header.
        """
        path, _, query = self._url.partition(b"?")
        if not path.startswith(b"/") and path != b"*":
            absolute = ABSOLUTE_TARGET.fullmatch(path)
            host = absolute[1].decode("latin-1") if absolute else ""
            if not absolute or not HOST.fullmatch(host):
                raise InvalidRequest("The request target is not a valid URL.")
            self._environ["HTTP_HOST"] = host
            path = absolute[2] or b"/"
        if b"%" in path:
            path = unquote_to_bytes(path)
        self._environ["PATH_INFO"] = path.decode("latin-1")
        self._environ["QUERY_STRING"] = query.decode("latin-1")

    def _read_framing(self, version: str) -> None:
        """Find out how the body is delimited (RFC 9112 section 6.3).

        The parser itself refuses a request with both Content-Length and chunks.
        """
        coding = self._environ.pop("HTTP_TRANSFER_ENCODING", None)
        if coding is not None:
            if version == "1.0" or coding.lower() != "chunked":
                raise InvalidRequest("The only supported Transfer-Encoding is chunked.")
            self._is_chunked = True
        length = self._environ.get("CONTENT_LENGTH", "0")
        if len(length) > MAX_LENGTH_DIGITS:
            raise InvalidRequest("The Content-Length has too many digits.")
        self._length = int(length)
        expectation = self._environ.get("HTTP_EXPECT")
        if expectation and expectation.lower() != "100-continue":
            raise InvalidRequest("The only supported Expect is 100-continue.")
        self.expects_continue = bool(expectation) and version == "1.1"

    def _leave_body(self) -> None:
        """Stop reading: the application refuses the body by its length, or reads it.

        The connection ends after it, so that an unread body never becomes a request.
        """
        if self._is_chunked:  # its length is unknown, but it is longer than the limit
            self._body.clear()
            self._environ["CONTENT_LENGTH"] = "9" * MAX_LENGTH_DIGITS
        self.late_bytes = self._length
        self.is_complete = self.is_last = True


def _refusal(error: Exception) -> BaseException:
    """Return what a callback has raised, or else the answer to invalid HTTP."""
    if isinstance(error, httptools.HttpParserCallbackError):
        return error.__context__ or error
    return InvalidRequest(f"The request is not valid HTTP: {error}.")


def _headers_too_large() -> ErrorResponse:
    limits = timeouts.LIMITS
    most = f"more than {limits.head_bytes // 1024} KiB or more than {limits.headers}"
    return ErrorResponse("headers_too_large", f"There are {most} headers.")
