"""Connections that expire while the client still has a response to read."""

import asyncio
import gc
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

import pytest
import uvloop

from petstore import waiting
from petstore.errors import UNREADABLE, ErrorResponse
from petstore.server.connection import HttpConnection
from petstore.server.request import RequestReader
from petstore.server.turns import Turns
from petstore.timeouts import LIMITS

BODY = b"x" * 50_000
TURNS = 50  # of the event loop; five are enough
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
CLOSE = GET[:-2] + b"Connection: close\r\n\r\n"


class Server:
    """A worker with one connection, whose response exceeds the socket buffer."""

    keep_alive_seconds = 2.0
    is_stopping = False
    connection: HttpConnection | None = None
    refusal: ErrorResponse | None = None
    may_respond: asyncio.Event | None = None

    def application(self, environ: dict, start_response: Callable) -> Iterable[bytes]:
        self.refusal = environ.get(UNREADABLE)
        if self.may_respond:
            waiting.await_result(self.may_respond.wait())
        start_response("200 OK", [])
        return [BODY]

    def __init__(self) -> None:
        self.turns = Turns()
        self.memory = self
        self.noted: list[int] = []

    def note(self, connection: HttpConnection, count: int) -> None:
        self.noted.append(count)

    def add(self, connection: HttpConnection) -> None:
        self.connection = connection

    def mark_idle(self, connection: HttpConnection) -> None: ...

    def remove(self, connection: HttpConnection) -> None:
        self.connection = None

    def count_request(self, connection: HttpConnection) -> None: ...


@asynccontextmanager
async def asked(
    sent: bytes, kind: type[HttpConnection] = HttpConnection
) -> AsyncIterator[tuple[Server, socket.socket]]:
    """Yield a server and a client that has sent these bytes and read nothing."""
    client, other = socket.socketpair()
    other.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    client.setblocking(False)
    server, loop = Server(), asyncio.get_running_loop()
    await loop.connect_accepted_socket(lambda: kind(server), other)
    with client:
        await loop.sock_sendall(client, sent)
        await settled()
        yield server, client
    await settled()
    assert server.connection is None


async def settled() -> None:
    """Let the event loop read what has been sent, and do what follows from it."""
    for _ in range(TURNS):
        await asyncio.sleep(0)


async def receive_all(client: socket.socket) -> bytes:
    received = b""
    while part := await asyncio.get_running_loop().sock_recv(client, 65536):
        received += part
    return received


def test_client_has_no_deadline_while_its_request_waits(
    monkeypatch: pytest.MonkeyPatch,
):
    async def play() -> None:
        monkeypatch.setattr(Server, "may_respond", asyncio.Event())
        async with asked(GET) as (server, client):
            assert not server.connection.is_waiting_for_client
            server.may_respond.set()
            await settled()
            assert server.connection.is_waiting_for_client
            client.close()

    uvloop.run(play())


@pytest.mark.parametrize("sent", [GET, CLOSE, b"BAD\r\n\r\n"])
def test_client_gets_time_to_read_the_last_response(sent: bytes):
    async def play() -> None:
        async with asked(sent) as (server, client):
            assert server.connection.is_waiting_for_client
            server.connection.expire()
            assert (await receive_all(client)).endswith(BODY)

    uvloop.run(play())


HALF = b"POST / HTTP/1.1\r\nHost: x\r\n"
ENDED = {
    "a request": GET,
    "half a head": HALF,
    "half a body": HALF + b"Content-Length: 60000\r\n\r\n" + b"x" * 59_999,
    "half a chunk": HALF + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n",
    "nothing readable": b"BAD\r\n\r\n",
}


@pytest.mark.parametrize("sent", ENDED.values(), ids=ENDED.keys())
def test_closed_connection_is_freed_without_the_garbage_collector(sent: bytes):
    async def play() -> None:
        async with asked(sent) as (_, client):
            client.close()
            await settled()
            # What threads of other tests leave behind does not count.
            kept = [type(each) for each in gc.get_objects()]
            assert not {HttpConnection, RequestReader} & set(kept)

    gc.collect()
    gc.disable()
    try:
        uvloop.run(play())
    finally:
        gc.enable()


def test_aborted_connection_counts_no_more_in_memory():
    async def play() -> None:
        async with asked(ENDED["half a body"]) as (server, _):
            connection, noted = server.connection, list(server.noted)
            assert noted[-1] > 59_999
            connection.abort()
            connection.note_unsent()
            assert server.noted == noted

    uvloop.run(play())


@pytest.mark.parametrize("sent", [ENDED["half a body"], GET + b"x" * 60_000])
def test_iteration_receives_one_buffer_of_a_client(sent: bytes):
    iteration, received = 0, []

    class Counted(HttpConnection):
        def buffer_updated(self, count: int) -> None:
            received.append((iteration, count))
            super().buffer_updated(count)

    def count_iterations() -> None:
        nonlocal iteration
        iteration += 1
        asyncio.get_running_loop().call_soon(count_iterations)

    async def play() -> None:
        count_iterations()
        async with asked(sent, Counted) as (_, client):
            client.close()

    uvloop.run(play())
    assert sum(count for _, count in received) == len(sent)
    assert max(count for _, count in received) == LIMITS.read_bytes
    assert len({number for number, _ in received}) == len(received)


def test_refusal_does_not_refer_to_what_was_read():
    async def play() -> None:
        async with asked(b"BAD\r\n\r\n") as (server, client):
            assert server.refusal.__traceback__ is None
            assert server.refusal.__context__ is None
            client.close()

    uvloop.run(play())


def test_connection_that_has_ended_closes_when_its_client_does():
    async def play() -> None:
        async with asked(CLOSE) as (server, client):
            await receive_all(client)
            assert server.connection
            client.close()
            await settled()
            assert server.connection is None

    uvloop.run(play())


@pytest.mark.parametrize("sent", [GET, CLOSE, b"BAD\r\n\r\n"])
def test_connection_is_aborted_if_the_response_stays_unread(sent: bytes):
    async def play() -> None:
        async with asked(sent) as (server, client):
            for _ in range(2):
                if server.connection:
                    server.connection.expire()
                    await settled()
            assert server.connection is None
            assert len(await receive_all(client)) < len(BODY)

    uvloop.run(play())
