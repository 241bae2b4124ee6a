"""The connection of one client: it handles one request at a time."""

import asyncio
import enum
import sys
from collections.abc import Callable
from typing import Any, Protocol

from petstore import timeouts, waiting
from petstore.errors import UNREADABLE, ErrorResponse
from petstore.server.memory import Memory
from petstore.server.request import RequestReader
from petstore.server.response import Response
from petstore.server.turns import Turns

SENDER_LENGTH = len("Bearer pet_") + 12  # of a key, the part that is no secret
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

# All connections share this buffer: received bytes are copied out of it at once.
_read_buffer = memoryview(bytearray(timeouts.LIMITS.read_bytes))


class State(enum.Enum):
    """What a connection is doing."""

    READING = enum.auto()  # a request, or waiting for one
    RESPONDING = enum.auto()  # until the client has read enough of the response
    LINGERING = enum.auto()  # the last response was sent; whatever comes is discarded
    CLOSING = enum.auto()  # when the rest of the response has been sent
    ENDED = enum.auto()  # nothing is read or sent any more


class ConnectionWorker(Protocol):
    """What a connection needs of the worker that has accepted it."""

    application: Callable[..., Any]  # by WSGI
    is_stopping: bool
    keep_alive_seconds: float
    log: Any  # gunicorn's, which is not annotated
    memory: Memory
    turns: Turns

    def add(self, connection: "HttpConnection") -> None:
        """Add a connection that has begun, and is idle."""

    def count_request(self, connection: "HttpConnection") -> None:
        """Count a request, with which the connection is idle no more."""

    def mark_idle(self, connection: "HttpConnection") -> None:
        """Note that the connection waits for its next request."""

    def remove(self, connection: "HttpConnection") -> None:
        """Remove a connection that has ended."""


class HttpConnection(asyncio.BufferedProtocol):
    """A client connection: its state with a deadline, and one request at a time."""

    def __init__(self, worker: ConnectionWorker) -> None:
        self._worker = worker
        self._loop = asyncio.get_running_loop()
        self._has_eof = False  # the client has closed its side
        self._may_write = asyncio.Event()  # unless the client has to read before
        self._may_write.set()
        self._is_noted = False  # in the memory of the worker
        self._is_last = False  # whether the current response is the last one
        # A request that waits for its turn, and its length.
        self._waiting: dict[str, Any] = {}
        self._waiting_bytes = 0
        # Of the last response; the event loop keeps only a weak reference to it.
        self._task: asyncio.Task[None] | None = None
        self.deadline: float | None
        self._enter(State.READING, timeouts.LIMITS.request_seconds)

    @property
    def is_waiting_for_client(self) -> bool:
        """Whether the server is waiting for the client to send or to read."""
        return self.deadline is not None

    @property
    def is_write_paused(self) -> bool:
        """Whether the client has to read before more of the response is sent."""
        return not self._may_write.is_set()

    def note_unsent(self) -> None:
        """Note what the client has not read of a response that was written before."""
        is_kept = self._is_noted or self._transport.get_write_buffer_size()
        if is_kept and self._state is not State.ENDED:
            self._note_kept()

    def abort(self) -> None:
        """Close the connection at once and discard what has not been sent."""
        self._enter(State.ENDED, None)
        self._waiting = {}
        self._transport.abort()

    def expire(self) -> None:
        """Close the connection because its deadline has passed.

        The client gets `send_seconds` for what is still in the buffers, unless it has
        had that time already.
        """
        if self.is_write_paused or self._state is State.CLOSING:
            self.abort()
        else:
            self._close()

    def close_soon_if_idle(self) -> None:
        """Leave an idle client only the time for a request that is under way."""
        if self._state is State.READING and not self._reader.kept_bytes:
            self._enter(State.READING, timeouts.LIMITS.linger_seconds)

    # The transport of a stream is an asyncio.Transport.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Prepare to read requests; called by the event loop."""
        transport.set_write_buffer_limits(timeouts.LIMITS.buffer_bytes)
        self._transport = transport
        self._base_environ = _base_environ(transport)
        self._reader = RequestReader(self._base_environ)
        self._worker.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Tell the worker that the connection has ended; called by the event loop."""
        self._enter(State.ENDED, None)
        self._waiting = {}
        self._abandon_task()
        self._reader.close()
        self._worker.remove(self)
        self._may_write.set()

    def get_buffer(self, _size_hint: int) -> memoryview:
        """Return the room for what is received; called by the event loop."""
        return _read_buffer

    def buffer_updated(self, count: int) -> None:
        """Read the bytes that were received; called by the event loop.

        What follows a full buffer is received in the next iteration, so that a client
        that sends much at once does not hold up the others.

        What comes before the response has been sent is never read as a request: the
        connection ends after the response, as RFC 9112 sections 9.3.2 and 9.6 allow.
        Blank lines are nothing (section 2.2).
        """
        if count == len(_read_buffer):
            self._transport.pause_reading()
            self._loop.call_soon(self._transport.resume_reading)
        if self._state is State.READING:
            self._read(bytes(_read_buffer[:count]))
        elif self._state is State.RESPONDING:
            self._is_last |= bool(bytes(_read_buffer[:count]).strip(b"\r\n"))

    def eof_received(self) -> bool:
        """Keep the connection open until the responses are sent.

        Called by the event loop when the client has closed its side.
        """
        self._has_eof = True
        self._abandon_task_soon()
        if self._state in (State.READING, State.LINGERING):
            self._close()
        return True

    def pause_writing(self) -> None:
        """Stop sending, since the client reads too slowly; called by the event loop."""
        self._may_write.clear()
        self._enter(self._state, timeouts.LIMITS.send_seconds)

    def resume_writing(self) -> None:
        """Go on sending; called by the event loop when the write buffer has drained."""
        self._may_write.set()
        if self._state is State.RESPONDING:
            self._enter(State.RESPONDING, None)
        elif self._state is State.READING and not self._reader.kept_bytes:
            self._enter(State.READING, self._worker.keep_alive_seconds)

    def _enter(self, state: State, seconds: float | None) -> None:
        """Change the state; `seconds` is how long the client has to end it.

        While the server itself is at work there is no deadline.
        """
        self._state = state
        self.deadline = None if seconds is None else self._loop.time() + seconds

    def _seconds_to_read(self, otherwise: float | None) -> float | None:
        """Return the time for a client that has not read the last response yet."""
        return timeouts.LIMITS.send_seconds if self.is_write_paused else otherwise

    def _read(self, received: bytes) -> None:
        if not self._reader.kept_bytes:
            self._enter(State.READING, timeouts.LIMITS.request_seconds)
        try:
            self._reader.read(received)
        except ErrorResponse as error:
            self._answer_unreadable(error)
            return
        if self._reader.is_complete:
            self._is_last = self._reader.is_last
            length = self._reader.kept_bytes
            self._respond(self._reader.pop_environ(), length)
            return
        if self._reader.expects_continue:
            self._reader.expects_continue = False
            self._transport.write(CONTINUE)
        self._note_kept()

    def _note_kept(self) -> None:
        """Note how much is kept of requests that have not begun, and of a response."""
        unsent = self._transport.get_write_buffer_size()
        kept = self._reader.kept_bytes + self._waiting_bytes + unsent
        self._is_noted = kept > 0
        self._worker.memory.note(self, kept)

    def _answer_unreadable(self, error: ErrorResponse) -> None:
        """Have the application render the error for a request that cannot be read.

        The response is then logged and counted like every other.
        """
        self._is_last = True
        # Tracebacks would keep the bytes that were received until the garbage collector
        # comes: an exception that is raised refers to itself by its own.
        error.__context__ = None
        placeholder = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": "/v1",
            "QUERY_STRING": "",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "RAW_URI": "/v1",
            UNREADABLE: error.with_traceback(None),
        }
        self._respond(self._base_environ | placeholder, 0)

    def _respond(self, environ: dict[str, Any], length: int) -> None:
        self._enter(State.RESPONDING, self._seconds_to_read(otherwise=None))
        self._worker.count_request(self)
        has_ended = self._worker.is_stopping or not self._worker.keep_alive_seconds
        self._is_last |= has_ended
        turns = self._worker.turns
        if turns.has_room():
            if self._is_noted:
                self._note_kept()
            self._start(environ)
        else:
            self._waiting, self._waiting_bytes = environ, length
            self._note_kept()
            turns.wait(_sender(environ), self._start_in_turn)

    def _start_in_turn(self) -> None:
        """Start the request that has waited; none is left if the connection ended."""
        environ, self._waiting, self._waiting_bytes = self._waiting, {}, 0
        if environ:
            self._note_kept()
            self._start(environ)

    def _start(self, environ: dict[str, Any]) -> None:
        if self._transport.is_closing():  # the client has gone
            return
        self._task = waiting.start(self._write_response, environ)
        if self._has_eof:
            self._abandon_task_soon()

    def _abandon_task(self) -> None:
        if self._task:
            waiting.abandon(self._task)

    def _abandon_task_soon(self) -> None:
        """Let a request wait in no queue for long if its client may have gone.

        A client that has closed its side may have gone, or still read the response.
        """
        if self._task:
            seconds = timeouts.LIMITS.half_closed_seconds
            self._loop.call_later(seconds, waiting.abandon, self._task)

    def _write_response(self, environ: dict[str, Any]) -> None:
        response = Response(environ, is_last=lambda: self._is_last)
        try:
            for piece in response.pieces(self._worker.application):
                if self.is_write_paused:
                    waiting.await_result(self._may_write.wait())
                if self._transport.is_closing():  # the client has gone
                    return
                self._transport.write(piece)
        except Exception:
            if not self._transport.is_closing():  # the client has not gone
                self._worker.log.exception("unexpected failure of a connection")
            self.abort()
        else:
            self._is_last |= response.ends_connection
            self._finish_response()

    def _finish_response(self) -> None:
        """Prepare for the next request, or end the connection.

        Called at once after the last piece: what comes from now on is a new request.
        """
        if self._transport.is_closing():
            return
        if self._has_eof:
            self._close()
        elif self._is_last:
            self._linger()
        else:
            keep_alive_seconds = self._worker.keep_alive_seconds
            self._enter(State.READING, self._seconds_to_read(keep_alive_seconds))
            self._worker.mark_idle(self)

    def _close(self) -> None:
        self._enter(State.CLOSING, timeouts.LIMITS.send_seconds)
        self._transport.close()

    def _linger(self) -> None:
        # If the socket were closed while the client is still sending, the client could
        # lose the response (RFC 9112 section 9.6).
        self._enter(State.LINGERING, timeouts.LIMITS.linger_seconds)
        self._transport.write_eof()


def _sender(environ: dict[str, Any]) -> str:
    """Return whose turn a request is: that of its key, or else of its path."""
    sender: str = environ.get("HTTP_AUTHORIZATION") or environ["PATH_INFO"]
    return sender[:SENDER_LENGTH]


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
