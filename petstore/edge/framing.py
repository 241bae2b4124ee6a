"""Where a request ends: found before anything of the application waits for it."""

import io

from gunicorn.http.body import ChunkedReader, LengthReader
from gunicorn.http.errors import (
    InvalidChunkSize,
    LimitRequestHeaders,
    NoMoreData,
    ParseException,
)
from gunicorn.http.message import Request
from gunicorn.http.unreader import Unreader

END_OF_HEAD = b"\r\n\r\n"
MAX_HEAD_BYTES = 64 * 1024
# Of a larger body nothing is read: the application refuses it by its length.
MAX_BODY_BYTES = 1024 * 1024
TOO_LONG = -1

# What gunicorn's parser raises at a request that is none.
UNREADABLE = (ParseException, InvalidChunkSize, NoMoreData)


class Received(Unreader):
    """What has come of a request, for gunicorn's parser to read."""

    def chunk(self) -> bytes:
        """Nothing more: the parser starts only when all of it is here."""
        return b""

    def feed(self, received: bytes) -> None:
        """Append what has come."""
        self.buf.seek(0, io.SEEK_END)
        self.buf.write(received)


def has_whole_head(received: bytearray) -> bool:
    """Whether the parser can read the request line and the headers.

    Raises `LimitRequestHeaders` when they do not end where they should.
    """
    if END_OF_HEAD in received:
        return True
    if len(received) > MAX_HEAD_BYTES:
        raise LimitRequestHeaders("the headers do not end")
    return False


def body_length(request: Request, received: bytes) -> int | None:
    """Bytes of the body in `received`; None while they are not all there.

    `TOO_LONG` for a body of which nothing will be read. Raises `InvalidChunkSize`.
    """
    reader = request.body.reader
    if isinstance(reader, ChunkedReader):
        length = _chunked_length(received)
        return TOO_LONG if length is None and len(received) > MAX_BODY_BYTES else length
    length = reader.length if isinstance(reader, LengthReader) else 0
    if length > MAX_BODY_BYTES:
        return TOO_LONG
    return length if length <= len(received) else None


def _chunked_length(received: bytes) -> int | None:
    """RFC 9112 section 7.1: chunks, a last one of size 0, trailers, an empty line."""
    position = 0
    while True:
        end_of_line = received.find(b"\r\n", position)
        if end_of_line < 0:
            if len(received) - position > 1024:
                raise InvalidChunkSize(received[position : position + 16])
            return None
        size = _chunk_size(received[position:end_of_line])
        if size == 0:
            break
        position = end_of_line + 2 + size + 2
    end_of_trailers = received.find(END_OF_HEAD, end_of_line)
    return None if end_of_trailers < 0 else end_of_trailers + len(END_OF_HEAD)


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip(b" \t")
    try:
        if not digits.isalnum():
            raise ValueError
        return int(digits, 16)
    except ValueError:
        raise InvalidChunkSize(line[:16]) from None


class DirectRequest(Request):
    """A request as its sender wrote it: gunicorn itself believes no proxy."""

    def _peer_trusted_for_forwarded(self) -> tuple[dict, list]:
        return {}, []
