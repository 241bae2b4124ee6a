"""One client's connection: a request is read, answered, and only then the next one."""

import asyncio
import math
import sys
from typing import TYPE_CHECKING, Any

from petstore import waiting
from petstore.edge.request import RequestReader
from petstore.edge.response import Response
from petstore.errors import REFUSAL, Failure

if TYPE_CHECKING:
    from petstore.edge.worker import EdgeWorker

REQUEST_SECONDS = 10.0  # for a request, from its first byte to its last
SEND_SECONDS = 30.0  # for a client to take 64 KiB of a response
LINGER_SECONDS = 2.0  # for a client to notice that the connection ends
MAX_BUFFER_BYTES = 64 * 1024  # each way

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

# What the loop reads is copied at once, so all connections share its place.
_read_buffer = memoryview(bytearray(MAX_BUFFER_BYTES))


class Connection(asyncio.BufferedProtocol):
    """A client, the bytes that it has sent, and the time that it has left."""

    def __init__(self, worker: "EdgeWorker") -> None:
        self._worker = worker
        self._loop = asyncio.get_running_loop()
        self._received = b""  # what has not been read of it
        self._is_responding = False
        self._is_read_scheduled = False  # the loop is about to call `_read_next`
        self._is_last = False  # no request is read after the present one
        self._is_client_closing = False  # the client sends nothing after it
        self._is_lingering = False
        self._has_eof = False  # the client sends no more
        self._drain_waiter: asyncio.Future[None] | None = (
            None  # until the client takes something
        )
        self._task: asyncio.Task[None] | None = None
        self.deadline = math.inf

    @property
    def is_waiting_for_client(self) -> bool:
        """Whether it is the client's turn."""
        return self.deadline < math.inf

    @property
    def is_write_paused(self) -> bool:
        """Whether the client has a response to take before all else."""
        return self._drain_waiter is not None

    @property
    def is_idle(self) -> bool:
        """Whether it is between two requests."""
        return not (self._is_responding or self._received or self._reader.has_begun)

    def abort(self) -> None:
        """End the connection at once."""
        self._transport.abort()

    def expire(self) -> None:
        """End the connection, but leave time for a response that nobody waited for."""
        is_sending = self._transport.get_write_buffer_size() > 0
        if is_sending and not (self.is_write_paused or self._transport.is_closing()):
            self._close()
        else:
            self.abort()

    def shorten_deadline(self, seconds: float) -> None:
        """Let the client have this much time at most."""
        self.deadline = min(self.deadline, self._loop.time() + seconds)

    # Streams have this kind of transport.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Called by the loop."""
        transport.set_write_buffer_limits(MAX_BUFFER_BYTES)
        self._transport = transport
        self._base_environ = _base_environ(transport)
        self._reader = RequestReader(self._base_environ)
        self._set_deadline(REQUEST_SECONDS)
        self._worker.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Called by the loop."""
        self._worker.remove(self)
        self._resume_response()

    def get_buffer(self, _size_hint: int) -> memoryview:
        """Called by the loop for a place for what has arrived."""
        return _read_buffer[len(self._received) :]

    def buffer_updated(self, count: int) -> None:
        """Called by the loop when that many bytes are there."""
        if self._is_lingering:
            return
        start = len(self._received)
        self._received += _read_buffer[start : start + count]
        if not (self._is_responding or self._is_read_scheduled):
            self._read_next()
        if len(self._received) == MAX_BUFFER_BYTES:
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        """Called by the loop; a client that has sent its last byte is answered."""
        self._has_eof = True
        if not (self._is_responding or self._is_read_scheduled):
            self._close()
        return True

    def pause_writing(self) -> None:
        """Called by the loop when the client does not take what is sent."""
        self._drain_waiter = self._loop.create_future()
        self._set_deadline(SEND_SECONDS)

    def resume_writing(self) -> None:
        """Called by the loop when the client has taken most of it."""
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
        """Answer one request of what has arrived; then it is another client's turn."""
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
        except Failure as refusal:
            self._refuse(refusal)
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

    def _refuse(self, refusal: Failure) -> None:
        """Let the application answer what cannot be read, as it answers all else."""
        self._is_last = True
        placeholder: dict[str, Any] = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": "/v1",
            "QUERY_STRING": "",
        }
        placeholder |= {
            "SERVER_PROTOCOL": "HTTP/1.1",
            "RAW_URI": "/v1",
            REFUSAL: refusal,
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
        except Exception:  # noqa: BLE001 (it is logged there)
            self._worker.log_exception()
            self._transport.abort()

    def _finish_response(self, _done: object = None) -> None:
        """Go on to the next request when the client has taken the response."""
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
        """End the connection when the client has taken the rest of the response."""
        self._transport.close()
        self._set_deadline(SEND_SECONDS)

    def _linger(self) -> None:
        # Closing while the client still sends would take the response from it
        # (RFC 9112 section 9.6).
        self._is_lingering, self._received = True, b""
        self._transport.write_eof()
        self._transport.resume_reading()
        self._set_deadline(LINGER_SECONDS)


def _base_environ(transport: asyncio.Transport) -> dict[str, Any]:
    """What holds for every request of a connection."""
    # A Unix socket has a path for an address, and its clients have none.
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
