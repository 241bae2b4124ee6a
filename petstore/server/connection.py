"""The connection of one client: it handles one request at a time."""

import asyncio
import math
import sys
from typing import TYPE_CHECKING, Any

from petstore import waiting
from petstore.edge.request import RequestReader
from petstore.edge.response import Response
from petstore.errors import UNREADABLE, Failure

if TYPE_CHECKING:
    from petstore.edge.worker import EdgeWorker

REQUEST_SECONDS = 10.0  # to receive a whole request
SEND_SECONDS = 30.0  # for the client to read 64 KiB of a response
LINGER_SECONDS = 2.0  # for the client to close a connection that has ended
MAX_BUFFER_BYTES = 64 * 1024  # in each direction

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

# All connections share this buffer: received bytes are copied out of it at once.
_read_buffer = memoryview(bytearray(MAX_BUFFER_BYTES))


class Connection(asyncio.BufferedProtocol):
    """A client connection: its unread bytes, its deadline and its present request."""

    def __init__(self, worker: "EdgeWorker") -> None:
        self._worker = worker
        self._loop = asyncio.get_running_loop()
        self._received = b""  # bytes that the request reader has not read yet
        self._is_responding = False
        self._is_read_scheduled = False  # the event loop will call `_read_next`
        self._is_last = False  # close the connection after this response
        self._is_client_closing = False  # it sends nothing after this request
        self._is_lingering = False
        self._has_eof = False  # the client has closed its side
        # Set while writing is paused.
        self._drain_waiter: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self.deadline = math.inf

    @property
    def is_waiting_for_client(self) -> bool:
        """Whether the server is waiting for the client to send or to read."""
        return self.deadline < math.inf

    @property
    def is_write_paused(self) -> bool:
        """Whether the client has to read before more of the response is sent."""
        return self._drain_waiter is not None

    @property
    def is_idle(self) -> bool:
        """Whether the connection is between two requests."""
        return not (self._is_responding or self._received or self._reader.has_begun)

    def abort(self) -> None:
        """Close the connection at once and discard what has not been sent."""
        self._transport.abort()

    def expire(self) -> None:
        """Close the connection because its deadline has passed.

        If a response is still in the buffers, the client gets SEND_SECONDS to read it,
        unless it has had that time already.
        """
        is_sending = self._transport.get_write_buffer_size() > 0
        if is_sending and not (self.is_write_paused or self._transport.is_closing()):
            self._close()
        else:
            self.abort()

    def shorten_deadline(self, seconds: float) -> None:
        """Set the deadline to at most that many seconds from now."""
        self.deadline = min(self.deadline, self._loop.time() + seconds)

    # The transport of a stream is an asyncio.Transport.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Prepare to read requests; called by the event loop."""
        transport.set_write_buffer_limits(MAX_BUFFER_BYTES)
        self._transport = transport
        self._base_environ = _base_environ(transport)
        self._reader = RequestReader(self._base_environ)
        self._set_deadline(REQUEST_SECONDS)
        self._worker.mark_idle(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Tell the worker that the connection has ended; called by the event loop."""
        self._worker.remove(self)
        self._resume_response()

    def get_buffer(self, _size_hint: int) -> memoryview:
        """Return the buffer to receive into; called by the event loop."""
        return _read_buffer[len(self._received) :]

    def buffer_updated(self, count: int) -> None:
        """Read the bytes that were received; called by the event loop."""
        if self._is_lingering:
            return
        start = len(self._received)
        self._received += _read_buffer[start : start + count]
        if not (self._is_responding or self._is_read_scheduled):
            self._read_next()
        if len(self._received) == MAX_BUFFER_BYTES:
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        """Keep the connection open until the responses are sent.

        Called by the event loop when the client has closed its side.
        """
        self._has_eof = True
        if not (self._is_responding or self._is_read_scheduled):
            self._close()
        return True

    def pause_writing(self) -> None:
        """Stop sending, since the client reads too slowly; called by the event loop."""
        self._drain_waiter = self._loop.create_future()
        self._set_deadline(SEND_SECONDS)

    def resume_writing(self) -> None:
        """Go on sending; called by the event loop when the write buffer has drained."""
        self.deadline = math.inf
        if self._is_lingering:
            self._set_deadline(LINGER_SECONDS)
        self._resume_response()

    def _resume_response(self) -> None:
        if self._drain_waiter:
            self._drain_waiter.set_result(None)
            self._drain_waiter = None

    def _set_deadline(self, seconds: float) -> None:
        self.deadline = self._loop.time() + seconds

    def _read_next(self, _done: object = None) -> None:
        """Handle at most one request of those that have arrived.

        The next one is handled in the next iteration of the event loop, so that a
        client with many requests does not hold up the others.
        """
        self._is_read_scheduled = False
        if self._received and not self._is_busy:
            self._read()
        if self._is_busy:
            return
        if self._received:
            self._is_read_scheduled = True
            self._loop.call_soon(self._read_next)
        elif self._has_eof:
            self._close()
        elif not self._transport.is_reading():
            self._transport.resume_reading()

    @property
    def _is_busy(self) -> bool:
        return self._is_responding or self._transport.is_closing()

    def _read(self) -> None:
        if not self._reader.has_begun:
            self._set_deadline(REQUEST_SECONDS)
        try:
            count = self._reader.read(self._received)
        except Failure as failure:
            self._answer_unreadable(failure)
            return
        self._received = self._received[count:]
        if self._reader.is_complete:
            self._is_last = self._reader.is_last
            self._is_client_closing = (
                self._is_last and not self._reader.has_skipped_body
            )
            self._handle(self._reader.pop_environ())
        elif self._reader.expects_continue:
            self._reader.expects_continue = False
            self._transport.write(CONTINUE)

    def _answer_unreadable(self, failure: Failure) -> None:
        """Have the application render the error for a request that cannot be read.

        The response is then logged and counted like every other.
        """
        self._is_last = True
        placeholder = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": "/v1",
            "QUERY_STRING": "",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "RAW_URI": "/v1",
            UNREADABLE: failure,
        }
        self._handle(self._base_environ | placeholder)

    def _handle(self, environ: dict[str, Any]) -> None:
        self._is_responding, self.deadline = True, math.inf
        self._worker.count_request()
        is_stopping = self._worker.is_stopping and not self._received
        if is_stopping or not self._worker.keep_alive_seconds:
            self._is_last = True
        self._task = waiting.start(self._respond, environ)
        if self._task:
            self._task.add_done_callback(self._finish_response)
            self._task.add_done_callback(self._read_next)
        else:
            self._finish_response()

    def _respond(self, environ: dict[str, Any]) -> None:
        response = Response(environ, is_last=self._is_last)
        try:
            for piece in response.pieces(self._worker.application):
                if self._drain_waiter:
                    waiting.wait(self._drain_waiter)
                if self._transport.is_closing():  # the client has gone
                    return
                self._transport.write(piece)
        except Exception:
            self._worker.log.exception("unexpected failure at the edge")
            self._transport.abort()

    def _finish_response(self, _done: object = None) -> None:
        """Prepare for the next request once the client has read the response."""
        if self._drain_waiter:
            self._drain_waiter.add_done_callback(self._finish_response)
            self._drain_waiter.add_done_callback(self._read_next)
            return
        self._is_responding = False
        if self._transport.is_closing():
            return
        if not self._is_last:
            self._set_deadline(self._worker.keep_alive_seconds)
            self._worker.mark_idle(self)
        elif self._has_eof or (self._is_client_closing and not self._received):
            self._close()
        else:
            self._linger()

    def _close(self) -> None:
        """Close the connection when the rest of the response has been sent."""
        self._transport.close()
        self._set_deadline(SEND_SECONDS)

    def _linger(self) -> None:
        # If the socket were closed while the client is still sending, the client could
        # lose the response (RFC 9112 section 9.6).
        self._is_lingering, self._received = True, b""
        self._transport.write_eof()
        self._transport.resume_reading()
        self._set_deadline(LINGER_SECONDS)


def _base_environ(transport: asyncio.Transport) -> dict[str, Any]:
    """Return the part of the environ that all requests of a connection share."""
    # The address of a Unix socket is a path, and its clients have no address.
    remote, local = (
        name if isinstance(name, tuple) else ("", "")
        for name in map(transport.get_extra_info, ("peername", "sockname"))
    )
    return {
        "REMOTE_ADDR": remote[0],
        "REMOTE_PORT": str(remote[1]),
        "SERVER_NAME": local[0] or "localhost",
        "SERVER_PORT": str(local[1]),
        "SCRIPT_NAME": "",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.input": None,
        "wsgi.input_terminated": True,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
