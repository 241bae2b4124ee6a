"""Reads requests with httptools and builds their WSGI environ (PEP 3333)."""

import functools
import io
from typing import Any
from urllib.parse import unquote_to_bytes

from httptools import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserUpgrade,
    HttpRequestParser,
    parse_url,
)

from petstore.errors import MAX_BODY_BYTES, HeadersTooLarge, InvalidRequest

MAX_HEAD_BYTES = 64 * 1024
MAX_HEADERS = 100
# A chunk with one byte of data takes six bytes. A body that is longer than this
# consists of chunk extensions.
MAX_CHUNKED_BYTES = 6 * (MAX_BODY_BYTES + 1)

SCHEMES = (b"http", b"https")
BLANK_LINE = b"\r\n\r\n"  # ends a head or a chunked body (RFC 9112 section 7.1)
HOST_CHARACTERS = (  # RFC 3986 section 3.2, without user information
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~!$&'()*+,;=%:[]-"
)


class RequestReader:
    """Reads the requests of a connection, one at a time, from bytes as they arrive."""

    def __init__(self, base_environ: dict[str, Any]) -> None:
        self._base_environ = base_environ
        self._parser = HttpRequestParser(self)
        self._begin()

    def _begin(self) -> None:
        self.is_complete = False  # the application can be called
        self.is_last = False  # the connection is closed after it
        self.has_skipped_body = False  # because it is too large
        self.expects_continue = False
        self._environ: dict[str, Any] = {}
        self._url = b""
        self._header_count = 0
        self._has_head = self._is_chunked = False
        self._bytes_read = 0  # of the head, then of the body with its chunk headers
        self._bytes_left = 0  # of a body with a Content-Length
        self._tail = b""  # the last three bytes: BLANK_LINE may be split
        self._body = bytearray()

    @property
    def has_begun(self) -> bool:
        """Whether a part of a request has been read."""
        return bool(self._tail)

    def read(self, data: bytes) -> int:
        """Read the present request, and return how many bytes belong to it.

        Raises `InvalidRequest` or `HeadersTooLarge` if the request is refused.
        """
        position = 0
        try:
            while position < len(data) and not self.is_complete:
                end = self._piece_end(data, position)
                self._feed(data[position:end])
                position = end
        except HttpParserCallbackError as error:
            raise error.__context__ or error from None
        except HttpParserError as error:
            raise InvalidRequest(f"The request is not valid HTTP: {error}.") from None
        return position

    def pop_environ(self) -> dict[str, Any]:
        """Return the environ of the complete request, and prepare for the next one."""
        environ = self._environ
        environ["wsgi.input"] = io.BytesIO(self._body)
        self._begin()
        return environ

    def _piece_end(self, data: bytes, position: int) -> int:
        # The parser cannot be stopped between two requests, so it must not be given
        # bytes of the next one.
        if self._bytes_left:
            return position + self._bytes_left
        if self._tail:
            end = (self._tail + data[position : position + 3]).find(BLANK_LINE)
            if end >= 0:
                return position + end + len(BLANK_LINE) - len(self._tail)
        end = data.find(BLANK_LINE, position)
        return len(data) if end < 0 else end + len(BLANK_LINE)

    def _feed(self, piece: bytes) -> None:
        self._bytes_read += len(piece)
        self._bytes_left -= min(self._bytes_left, len(piece))
        self._tail = (self._tail + piece)[-3:]
        if not self._has_head and self._bytes_read > MAX_HEAD_BYTES:
            raise HeadersTooLarge("The headers are longer than 64 KiB.")
        try:
            self._parser.feed_data(piece)
        except HttpParserUpgrade:
            self._decline_upgrade()
        if self._is_chunked and self._bytes_read > MAX_CHUNKED_BYTES:
            self._skip_body()

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
        """Start the environ; called by httptools."""
        if not self._has_head:
            self._environ = self._base_environ.copy()

    def on_url(self, url: bytes) -> None:
        """Collect a piece of the request target; called by httptools."""
        if not self._has_head:
            self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header to the environ; called by httptools.

        Trailers, the headers that follow a chunked body, are ignored.
        """
        if self._has_head:
            return
        self._header_count += 1
        if self._header_count > MAX_HEADERS:
            raise HeadersTooLarge(f"There are more than {MAX_HEADERS} headers.")
        key = _cgi_name(name)
        if key in self._environ:
            if key == "HTTP_HOST":
                raise InvalidRequest("The request has more than one Host header.")
            value = self._environ[key].encode("latin-1") + b"," + value
        if key:
            self._environ[key] = value.strip(b" \t").decode("latin-1")

    def on_headers_complete(self) -> None:
        """Check the head and complete the environ; called by httptools.

        Raises `InvalidRequest` if another server could read the head differently.
        """
        if self._has_head:
            return
        self._has_head, self._bytes_read = True, 0
        version = self._parser.get_http_version()
        if version not in ("1.0", "1.1"):
            raise InvalidRequest("Only HTTP/1.0 and HTTP/1.1 are supported.")
        self._environ["SERVER_PROTOCOL"] = f"HTTP/{version}"
        self._environ["REQUEST_METHOD"] = self._parser.get_method().decode()
        if version == "1.1" or "HTTP_HOST" in self._environ:
            self._require_host()
        self._set_target()
        self._read_framing(version)

    def on_body(self, body: bytes) -> None:
        """Collect a piece of the body; called by httptools."""
        self._body += body
        if len(self._body) > MAX_BODY_BYTES:
            self._skip_body()

    def on_message_complete(self) -> None:
        """Mark the request as complete; called by httptools."""
        if not self.is_complete and self._is_chunked:
            self._environ["CONTENT_LENGTH"] = str(len(self._body))
        self.is_complete = True
        if not self._parser.should_keep_alive():
            self.is_last = True

    def _set_target(self) -> None:
        """Set path, query and the host of an absolute target (RFC 9112 section 3.2)."""
        path, _, query = self._url.partition(b"?")
        if not path.startswith(b"/") and path != b"*":
            path = self._split_absolute_target(path)
        if b"%" in path:
            path = unquote_to_bytes(path)
        self._environ["RAW_URI"] = self._url.decode("latin-1")
        self._environ["PATH_INFO"] = path.decode("latin-1")
        self._environ["QUERY_STRING"] = query.decode("latin-1")

    def _split_absolute_target(self, target: bytes) -> bytes:
        try:
            url = parse_url(target)
        except HttpParserError:
            url = None
        if not url or (url.schema or b"").lower() not in SCHEMES or url.userinfo:
            raise InvalidRequest("The request target is not a valid URL.")
        # The host of an absolute target takes precedence over the Host header
        # (RFC 9112 section 3.2.2).
        origin = target[: len(target) - len(url.path or b"")]
        self._environ["HTTP_HOST"] = origin.partition(b"//")[2].decode("latin-1")
        self._require_host()
        return url.path or b"/"

    def _require_host(self) -> None:
        host = self._environ.get("HTTP_HOST")
        if host is None or host.strip(HOST_CHARACTERS):
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
        self._bytes_left = int(self._environ.get("CONTENT_LENGTH", 0))
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
        self.is_complete = self.is_last = self.has_skipped_body = True


@functools.lru_cache(1024)
def _cgi_name(name: bytes) -> str | None:
    """Return the name of a header in the environ (RFC 3875 section 4.1).

    Return None if the header contains `_`: in the environ it would look like the header
    with a hyphen, which a proxy may have set.
    """
    key = name.decode("ascii").upper().replace("-", "_")
    if b"_" in name:
        return None
    return key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"
