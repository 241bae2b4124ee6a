"""Reads requests with httptools and builds their WSGI environ (PEP 3333)."""

import io
import re
from typing import Any
from urllib.parse import unquote_to_bytes

from httptools import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserUpgrade,
    HttpRequestParser,
)

from petstore import timeouts
from petstore.errors import MAX_BODY_BYTES, ErrorResponse, InvalidRequest

# A chunk with one byte of data takes six bytes. A body that is longer than this
# consists of chunk extensions.
MAX_CHUNKED_BYTES = 6 * (MAX_BODY_BYTES + 1)

BLANK_LINE = b"\r\n\r\n"  # ends a head
MAX_SIZE_DIGITS = 16  # of a chunk
MAX_LENGTH_DIGITS = 20  # of a Content-Length; int() fails with more than 4,300
ABSOLUTE_TARGET = re.compile(rb"(?i:https?)://([^/:][^/]*)(/.*)?")
HOST = re.compile(  # RFC 3986 section 3.2, without user information
    r"(\[[0-9a-z._~!$&'()*+,;=%:-]+\]|[0-9a-z._~!$&'()*+,;=%-]*)(:[0-9]*)?",
    re.IGNORECASE,
)
# A second one of these would be ambiguous. Other headers may be lists: they are joined.
SINGLE_HEADERS = {
    "HTTP_HOST": "Host",
    "HTTP_IDEMPOTENCY_KEY": "Idempotency-Key",
}
CGI_NAMES = ("CONTENT_TYPE", "CONTENT_LENGTH")  # the others begin with `HTTP_`


class RequestReader:
    """Reads the requests of a connection, one at a time, from bytes as they arrive.

    The parser judges every byte, but it cannot be stopped between two requests.
    Therefore the reader itself finds where a request may end, which is the end of a
    head, a body, a chunk or a line between chunks, and feeds the parser no further.
    """

    def __init__(self, base_environ: dict[str, Any]) -> None:
        self._base_environ = base_environ
        self._parser = HttpRequestParser(self)
        self._begin()

    def _begin(self) -> None:
        self.has_begun = False
        self.is_complete = False  # the application can be called
        self.is_last = False  # the connection is closed after it
        self.expects_continue = False
        self._environ = self._base_environ.copy()
        self._url = b""
        self._header_count = 0
        self._has_head = self._is_chunked = False
        self.kept_bytes = 0  # of the request, with its framing
        self._blank_bytes = 0  # before the request
        self._bytes_read = 0  # of the head, then of the body with its chunk headers
        self._bytes_left = 0  # of a body with a Content-Length, or of a chunk
        self._tail = b""  # the last three bytes of the head: BLANK_LINE may be split
        self._size_line = b""  # its beginning, as far as it has arrived
        self._body = bytearray()

    def read(self, data: bytes) -> int:
        """Read the current request, and return how many bytes of the data were read.

        The rest belongs to the next request, or is read by the next call: it takes at
        most `LIMITS.pieces` of a body at once.

        Raises `ErrorResponse` if the request is refused.
        """
        self.has_begun = True
        position = 0
        try:
            if not self._has_head:
                position = self._read_head(data)
            if self._has_head and not self.is_complete:
                position = self._read_body(data, position)
        except HttpParserCallbackError as error:
            raise error.__context__ or error from None  # what the callback raised
        except HttpParserError as error:
            raise InvalidRequest(f"The request is not valid HTTP: {error}.") from None
        self.kept_bytes += position
        return position

    def pop_environ(self) -> dict[str, Any]:
        """Return the environ of the complete request, and prepare for the next one."""
        environ = self._environ
        environ["wsgi.input"] = io.BytesIO(self._body)
        self._begin()
        return environ

    def close(self) -> None:
        """Drop what was read.

        Reader and parser refer to each other, so without this the bytes of a closed
        connection would wait for the garbage collector.
        """
        del self._parser

    def _read_head(self, data: bytes) -> int:
        start = 0 if self._bytes_read else self._skip_blank_lines(data)
        end = self._end_of_head(data, start)
        self._bytes_read += end - start
        limit = timeouts.LIMITS.head_bytes
        if self._bytes_read > limit:
            excess = f"The headers are longer than {limit // 1024} KiB."
            raise ErrorResponse("headers_too_large", excess)
        self._feed(data[start:end])
        return end

    def _skip_blank_lines(self, data: bytes) -> int:
        """Return where the request begins (RFC 9112 section 2.2)."""
        if data[0] not in b"\r\n":
            return 0
        start = len(data) - len(data.lstrip(b"\r\n"))
        self._blank_bytes += start
        if self._blank_bytes > timeouts.LIMITS.blank_lines * len(b"\r\n"):
            raise InvalidRequest("There are too many empty lines before the request.")
        return start

    def _end_of_head(self, data: bytes, start: int) -> int:
        """Return how far the head goes in the data."""
        head = self._tail + data[start:]
        found = head.find(BLANK_LINE)
        if found >= 0:
            return start + found + len(BLANK_LINE) - len(self._tail)
        self._tail = head[-3:]
        return len(data)

    def _read_body(self, data: bytes, start: int) -> int:
        """Read some pieces of the body; return where they end."""
        for _ in range(timeouts.LIMITS.pieces):
            if start == len(data) or self.is_complete:
                break
            if self._bytes_left:
                end = min(start + self._bytes_left, len(data))
                self._bytes_left -= end - start
            else:  # a line between chunks, perhaps a part of it
                end = data.find(b"\n", start) + 1 or len(data)
                line = self._size_line + data[start:end]
                self._size_line = line[: MAX_SIZE_DIGITS + 1]
            self._bytes_read += end - start
            if self._bytes_read > MAX_CHUNKED_BYTES:
                self._skip_body()
            else:
                self._feed(data[start:end])
            start = end
        return start

    def _feed(self, piece: bytes) -> None:
        try:
            self._parser.feed_data(piece)
        except HttpParserUpgrade:
            self._decline_upgrade()

    def _decline_upgrade(self) -> None:
        """Ignore a request to switch protocols, as RFC 9110 section 7.8 allows.

        The parser stops after the head of such a request, so that the other protocol
        can read what follows. A new parser therefore reads the body.
        """
        self._parser = HttpRequestParser(self)
        length = f"Content-Length: {self._bytes_left}"
        framing = "Transfer-Encoding: chunked" if self._is_chunked else length
        self.is_complete = False
        self._parser.feed_data(f"POST / HTTP/1.1\r\n{framing}\r\n\r\n".encode())

    def on_message_begin(self) -> None:
        """Refuse a second request in what was fed; called by httptools.

        Reader and parser would disagree on where the first one ends.
        """
        if self.is_complete:
            raise InvalidRequest("The request does not end where it should.")

    def on_url(self, url: bytes) -> None:
        """Collect a piece of the request target; called by httptools."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header to the environ; called by httptools.

        Trailers, the headers that follow a chunked body, are ignored. So are headers
        with `_`: in the environ they would look like those with a hyphen, which a proxy
        may have set.
        """
        self._header_count += 1
        limits = timeouts.LIMITS
        if self._header_count > limits.headers:
            excess = f"There are more than {limits.headers} headers."
            raise ErrorResponse("headers_too_large", excess)
        if self._has_head or b"_" in name:
            return
        key = name.decode("ascii").upper().replace("-", "_")
        if key not in CGI_NAMES:
            key = f"HTTP_{key}"
        if key in self._environ:
            if single := SINGLE_HEADERS.get(key):
                raise InvalidRequest(f"The request has more than one {single} header.")
            value = self._environ[key].encode("latin-1") + b"," + value
        limit = limits.header_parts
        if len(value) > limit and value.count(b",") + value.count(b";") > limit:
            excess = f"A header has more than {limit} commas and semicolons."
            raise ErrorResponse("headers_too_large", excess)
        self._environ[key] = value.strip(b" \t").decode("latin-1")

    def on_headers_complete(self) -> None:
        """Check the head and complete the environ; called by httptools.

        Raises `InvalidRequest` if another server could read the head differently.
        """
        if self._has_head:
            return
        self._has_head = True
        self._bytes_read = self._header_count = 0
        version = self._parser.get_http_version()
        if version not in ("1.0", "1.1"):
            raise InvalidRequest("Only HTTP/1.0 and HTTP/1.1 are supported.")
        self._environ["SERVER_PROTOCOL"] = f"HTTP/{version}"
        self._environ["REQUEST_METHOD"] = self._parser.get_method().decode()
        if version == "1.1" or "HTTP_HOST" in self._environ:
            self._require_host()
        self._set_target()
        self._read_framing(version)

    def on_body(self, piece: bytes) -> None:
        """Collect a piece of the body; called by httptools."""
        self._body += piece

    def on_chunk_header(self) -> None:
        """Find out where the chunk ends; called by httptools once its size is valid."""
        digits = self._size_line.partition(b";")[0].rstrip()
        if len(digits) > MAX_SIZE_DIGITS:
            raise InvalidRequest("The size of a chunk has too many digits.")
        self._size_line = b""
        size = int(digits, 16)
        if size + len(self._body) > MAX_BODY_BYTES:
            self._skip_body()
        elif size:
            self._bytes_left = size + len(b"\r\n")

    def on_message_complete(self) -> None:
        """Mark the request as complete; called by httptools."""
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
        self._environ["RAW_URI"] = self._url.decode("latin-1")
        self._environ["PATH_INFO"] = path.decode("latin-1")
        self._environ["QUERY_STRING"] = query.decode("latin-1")

    def _require_host(self) -> None:
        host = self._environ.get("HTTP_HOST")
        if host is None or not HOST.fullmatch(host):
            raise InvalidRequest("The request needs a valid Host header.")

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
        self._bytes_left = int(length)
        if self._bytes_left > MAX_BODY_BYTES:
            self._skip_body()
        expectation = self._environ.get("HTTP_EXPECT")
        if expectation and expectation.lower() != "100-continue":
            raise InvalidRequest("The only supported Expect is 100-continue.")
        self.expects_continue = bool(expectation) and version == "1.1"

    def _skip_body(self) -> None:
        """Stop reading a body that is too large.

        The application refuses it because of its Content-Length.
        """
        self._body.clear()
        self._environ["CONTENT_LENGTH"] = str(max(self._bytes_left, MAX_BODY_BYTES + 1))
        self._bytes_left = 0
        self.is_complete = self.is_last = True
