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
_arrival = memoryview(bytearray(MAX_BUFFER_BYTES))


class Connection(asyncio.BufferedProtocol):
    """A client, the bytes that it has sent, and the time that it has left."""

    def __init__(self, worker: "EdgeWorker") -> None:
        self._worker = worker
        self._loop = asyncio.get_running_loop()
        self._received = b""  # what has not been read of it
        self._is_answering = False
        self._has_turn = False  # the loop is about to call `_read_on`
        self._is_last = False  # no request is read after the present one
        self._asked_to_close = False  # the client sends nothing after it
        self._is_lingering = False
        self._has_ended = False  # the client sends no more
        self._room: asyncio.Future[None] | None = (
            None  # until the client takes something
        )
        self._task: asyncio.Task[None] | None = None
        self.deadline = math.inf

    @property
    def is_waiting(self) -> bool:
        """Whether it is the client's turn."""
        return self.deadline < math.inf

    @property
    def is_taking(self) -> bool:
        """Whether the client has a response to take before all else."""
        return self._room is not None

    @property
    def is_idle(self) -> bool:
        """Whether it is between two requests."""
        return not (self._is_answering or self._received or self._reader.has_begun)

    def abort(self) -> None:
        """End the connection at once."""
        self._transport.abort()

    def expire(self) -> None:
        """End the connection, but leave time for a response that nobody waited for."""
        is_sending = self._transport.get_write_buffer_size() > 0
        if is_sending and not (self.is_taking or self._transport.is_closing()):
            self._close()
        else:
            self.abort()

    def limit(self, seconds: float) -> None:
        """Let the client have this much time at most."""
        self.deadline = min(self.deadline, self._loop.time() + seconds)

    # Streams have this kind of transport.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Called by the loop."""
        transport.set_write_buffer_limits(MAX_BUFFER_BYTES)
        self._transport = transport
        self._base_environ = _base_environ(transport)
        self._reader = RequestReader(self._base_environ)
        self._give(REQUEST_SECONDS)
        self._worker.adopt(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Called by the loop."""
        self._worker.forget(self)
        self._make_room()

    def get_buffer(self, _size_hint: int) -> memoryview:
        """Called by the loop for a place for what has arrived."""
        return _arrival[len(self._received) :]

    def buffer_updated(self, count: int) -> None:
        """Called by the loop when that many bytes are there."""
        if self._is_lingering:
            return
        start = len(self._received)
        self._received += _arrival[start : start + count]
        if not (self._is_answering or self._has_turn):
            self._read_on()
        if len(self._received) == MAX_BUFFER_BYTES:
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        """Called by the loop; a client that has sent its last byte is answered."""
        self._has_ended = True
        if not (self._is_answering or self._has_turn):
            self._close()
        return True

    def pause_writing(self) -> None:
        """Called by the loop when the client does not take what is sent."""
        self._room = self._loop.create_future()
        self._give(SEND_SECONDS)

    def resume_writing(self) -> None:
        """Called by the loop when the client has taken most of it."""
        self.deadline = math.inf
        if self._is_lingering:
            self._give(LINGER_SECONDS)
        self._make_room()

    def _make_room(self) -> None:
        if self._room:
            self._room.set_result(None)
            self._room = None

    def _give(self, seconds: float) -> None:
        self.deadline = self._loop.time() + seconds

    def _read_on(self, _finished: object = None) -> None:
        """Answer one request of what has arrived; then it is another client's turn."""
        self._has_turn = False
        if self._received and not self._is_occupied:
            self._read()
        if self._is_occupied:
            return
        if self._received:
            self._has_turn = True
            self._loop.call_soon(self._read_on)
        elif self._has_ended:
            self._close()
        elif not self._transport.is_reading():
            self._transport.resume_reading()

    @property
    def _is_occupied(self) -> bool:
        return self._is_answering or self._transport.is_closing()

    def _read(self) -> None:
        if not self._reader.has_begun:
            self._give(REQUEST_SECONDS)
        try:
            count = self._reader.read(self._received)
        except Failure as refusal:
            self._refuse(refusal)
            return
        self._received = self._received[count:]
        if self._reader.is_complete:
            self._is_last = self._reader.is_last
            self._asked_to_close = self._is_last and not self._reader.has_skipped_body
            self._answer(self._reader.take())
        elif self._reader.expects_continue:
            self._reader.expects_continue = False
            self._transport.write(CONTINUE)

    def _refuse(self, refusal: Failure) -> None:
        """Let the application answer what cannot be read, as it answers all else."""
        self._is_last = True
        stand_in: dict[str, Any] = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": "/v1",
            "QUERY_STRING": "",
        }
        stand_in |= {"SERVER_PROTOCOL": "HTTP/1.1", "RAW_URI": "/v1", REFUSAL: refusal}
        self._answer(self._base_environ | stand_in)

    def _answer(self, environ: dict[str, Any]) -> None:
        self._is_answering, self.deadline = True, math.inf
        self._worker.count_request()
        is_stopping = self._worker.is_stopping and not self._received
        if is_stopping or not self._worker.keep_alive_seconds:
            self._is_last = True
        self._task = waiting.start(self._respond, environ)
        if self._task:
            self._task.add_done_callback(self._finish)
            self._task.add_done_callback(self._read_on)
        else:
            self._finish()

    def _respond(self, environ: dict[str, Any]) -> None:
        response = Response(environ, is_last=self._is_last)
        try:
            for piece in response.pieces(self._worker.application):
                if self._room:
                    waiting.wait(self._room)
                if self._transport.is_closing():  # the client has gone
                    return
                self._transport.write(piece)
        except Exception:  # noqa: BLE001 (it is logged there)
            self._worker.report_bug()
            self._transport.abort()

    def _finish(self, _finished: object = None) -> None:
        """Go on to the next request when the client has taken the response."""
        if self._room:
            self._room.add_done_callback(self._finish)
            self._room.add_done_callback(self._read_on)
            return
        self._is_answering = False
        if self._transport.is_closing():
            return
        if not self._is_last:
            self._give(self._worker.keep_alive_seconds)
            self._worker.rest(self)
        elif self._has_ended or (self._asked_to_close and not self._received):
            self._close()
        else:
            self._linger()

    def _close(self) -> None:
        """End the connection when the client has taken the rest of the response."""
        self._transport.close()
        self._give(SEND_SECONDS)

    def _linger(self) -> None:
        # Closing while the client still sends would take the response from it
        # (RFC 9112 section 9.6).
        self._is_lingering, self._received = True, b""
        self._transport.write_eof()
        self._transport.resume_reading()
        self._give(LINGER_SECONDS)


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
