"""Where a request ends: found before anything of the application waits for it."""

import io
import re
from types import SimpleNamespace
from typing import Self

from gunicorn.config import Config
from gunicorn.http.body import ChunkedReader, LengthReader
from gunicorn.http.errors import (
    ChunkMissingTerminator,
    InvalidChunkExtension,
    InvalidChunkSize,
    InvalidHeader,
    InvalidRequestLine,
    LimitRequestHeaders,
    NoMoreData,
    ParseException,
    UnsupportedTransferCoding,
)
from gunicorn.http.message import Request
from gunicorn.http.unreader import Unreader

END_OF_HEAD = b"\r\n\r\n"
MAX_HEAD_BYTES = 64 * 1024
MAX_CHUNK_LINE_BYTES = 1024
# Of a larger body nothing is read: the application refuses it by its length.
MAX_BODY_BYTES = 1024 * 1024
TOO_LONG = -1

# What gunicorn's parser raises at a request that is none.
UNREADABLE = (
    ParseException,
    InvalidChunkSize,
    InvalidChunkExtension,
    ChunkMissingTerminator,
    NoMoreData,
)

_BARE_LINE_FEED = re.compile(rb"(?<!\r)\n")
_HOST = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]*")  # RFC 9110 section 7.2


class Options(SimpleNamespace):
    """gunicorn's settings as plain attributes, which its parser reads very often."""

    is_ssl = False

    @classmethod
    def of(cls, cfg: Config) -> Self:
        """A copy of the settings as they are."""
        return cls(**{name: setting.get() for name, setting in cfg.settings.items()})


class Received(Unreader):
    """What has come of a request, for gunicorn's parser to read."""

    def chunk(self) -> bytes:
        """Nothing more: the parser starts only when all of it is here."""
        return b""

    def feed(self, received: bytes) -> None:
        """Append what has come."""
        self.buf.seek(0, io.SEEK_END)
        self.buf.write(received)


class DirectRequest(Request):
    """A request as its sender wrote it: gunicorn itself believes no proxy."""

    def set_body_reader(self) -> None:
        """Find the body, where no other server could find it elsewhere."""
        hosts = []
        for name, value in self.headers:
            if name == "TRANSFER-ENCODING" and value.lower() != "chunked":
                raise UnsupportedTransferCoding(value)
            if name == "HOST":
                hosts.append(value)
        # RFC 9112 section 3.2; the parser itself refuses a second one.
        if (not hosts and self.version > (1, 0)) or not _HOST.fullmatch("".join(hosts)):
            raise InvalidHeader("HOST")
        super().set_body_reader()

    def _peer_trusted_for_forwarded(self) -> tuple[dict, list]:
        return {}, []


def has_whole_head(received: bytearray) -> bool:
    """Whether the parser can read the request line and the headers.

    Raises what the parser would, as soon as it is clear that it never could.
    """
    if END_OF_HEAD in received:
        return True
    if len(received) > MAX_HEAD_BYTES:
        raise LimitRequestHeaders("the headers do not end")
    # A client that speaks TLS or ends its lines in another way waits for an answer.
    if received and not received[:1].isalpha():
        raise InvalidRequestLine(bytes(received[:16]))
    if _BARE_LINE_FEED.search(received):
        raise InvalidRequestLine("a line ends without a carriage return")
    return False


class Framing:
    """Looks for the end of a request's body, once in each byte that comes."""

    def __init__(self, request: Request) -> None:
        reader = request.body.reader
        self.is_chunked = isinstance(reader, ChunkedReader)
        self._length = reader.length if isinstance(reader, LengthReader) else 0
        self._position = 0
        self._is_in_trailers = False

    def end_of_body(self, received: bytearray) -> int | None:
        """How much of `received` is the body; None while it is not all there.

        `TOO_LONG` for a body of which nothing will be read. Raises what the parser
        would at chunks that are none.
        """
        if self.is_chunked:
            return self._end_of_chunks(received)
        if self._length > MAX_BODY_BYTES:
            return TOO_LONG
        return self._length if self._length <= len(received) else None

    def _end_of_chunks(self, received: bytearray) -> int | None:
        """RFC 9112 section 7.1: chunks, one of size 0, trailers, an empty line."""
        while not self._is_in_trailers:
            end_of_line = received.find(b"\r\n", self._position)
            if end_of_line < 0:
                _require_hope(received[self._position :])
                return None
            size = _chunk_size(received[self._position : end_of_line])
            if size == 0:
                self._position, self._is_in_trailers = end_of_line, True
            else:
                self._position = end_of_line + 2 + size + 2
            if self._position > MAX_BODY_BYTES:
                return TOO_LONG
        end = received.find(END_OF_HEAD, self._position)
        if end >= 0:
            return end + len(END_OF_HEAD)
        if len(received) - self._position > MAX_HEAD_BYTES:
            raise LimitRequestHeaders("the trailers do not end")
        return None


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].rstrip(b" \t")
    if not re.fullmatch(rb"[0-9A-Fa-f]{1,16}", digits):
        raise InvalidChunkSize(bytes(line[:16]))
    return int(digits, 16)


def _require_hope(begun: bytes) -> None:
    if b"\n" in begun or len(begun) > MAX_CHUNK_LINE_BYTES:
        raise InvalidChunkSize(bytes(begun[:16]))
