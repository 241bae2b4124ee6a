"""A network between simulated clients, the worker's sockets and simulated servers."""

import asyncio
import itertools
import random
import selectors
import socket
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from tests.simulation.world import Bell, World

BACKLOG = 128
SYN_SECONDS = 1.0  # before a client that found a full listen queue tries again
WINDOW_BYTES = 64 * 1024
FIRST_DESCRIPTOR = 1_000_000  # no real file has such a number


@dataclass(frozen=True)
class Link:
    """How a connection carries bytes."""

    seconds: float = 0.001  # for a segment, half of it to twice as long
    split_chance: float = 0.2
    window: int = WINDOW_BYTES


class Direction:
    """Bytes on their way from one end of a connection to the other."""

    def __init__(
        self, world: World, dice: random.Random, link: Link, window: int
    ) -> None:
        self._world = world
        self._dice = dice
        self._link = link
        self._window = window
        self._arrives_at = 0.0  # of the last segment
        self._under_way = 0
        self.arrived = bytearray()
        self.arrived_at = 0.0
        self.has_ended = False  # the other end has closed it, and all has arrived
        self.is_broken = False
        self.on_arrival: Callable[[], None] = lambda: None
        self.on_room: Callable[[], None] = lambda: None

    @property
    def room(self) -> int:
        """How many bytes may be sent now."""
        return self._window - self._under_way - len(self.arrived)

    def send(self, content: bytes) -> int:
        """Send as much as there is room for; return how much."""
        accepted = min(len(content), self.room)
        self._under_way += accepted
        for piece in self._pieces(content[:accepted]):
            self._later(self._arrive, piece)
        return accepted

    def finish(self) -> None:
        """Send the end of the stream."""
        self._later(self._end)

    def take(self, most: int) -> bytes:
        """Take what has arrived."""
        taken = bytes(self.arrived[:most])
        del self.arrived[:most]
        if taken:
            self.on_room()
        return taken

    def _pieces(self, content: bytes) -> Iterable[bytes]:
        start = 0
        while start < len(content):
            end = len(content)
            if self._dice.random() < self._link.split_chance:
                end = self._dice.randint(start + 1, end)
            yield content[start:end]
            start = end

    def _later(self, call: Callable[..., None], *arguments: Any) -> None:
        seconds = self._link.seconds * self._dice.uniform(0.5, 2)
        self._arrives_at = max(self._arrives_at, self._world.now + seconds)
        self._world.after(self._arrives_at - self._world.now, call, *arguments)

    def _arrive(self, piece: bytes) -> None:
        if not self.is_broken:
            self._under_way -= len(piece)
            self.arrived += piece
            self.arrived_at = self._world.now
            self.on_arrival()

    def _end(self) -> None:
        if not self.is_broken:
            self.has_ended = True
            self.on_arrival()


class End:
    """The end of a connection that a simulated client or server holds."""

    def __init__(self, world: World, incoming: Direction, outgoing: Direction) -> None:
        self._world = world
        self.incoming, self.outgoing = incoming, outgoing
        self._changed = Bell(world)
        self._has_finished = False
        incoming.on_arrival = outgoing.on_room = self._changed.ring
        self.accepted_at = 0.0  # by the worker
        self.answered_at = 0.0  # when the worker began its last response

    @property
    def is_reset(self) -> bool:
        """Whether nothing can be sent or received any more."""
        return self.incoming.is_broken

    async def send(self, content: bytes) -> bool:
        """Send everything; return False if the connection was reset."""
        while content and not self.is_reset:
            sent = self.outgoing.send(content)
            content = content[sent:]
            if content:
                await self._changed.wait(60)
        return not self.is_reset

    async def receive(self, seconds: float, most: int = WINDOW_BYTES) -> bytes | None:
        """Return what has arrived, b"" at the end; None after that time or a reset."""
        incoming, until = self.incoming, self._world.now + seconds
        while not (incoming.arrived or incoming.has_ended or self.is_reset):
            if self._world.now >= until:
                return None
            await self._changed.wait(until - self._world.now)
        return None if self.is_reset else incoming.take(most)

    def finish(self) -> None:
        """Close this side; what was sent before still arrives."""
        if not (self._has_finished or self.is_reset):
            self._has_finished = True
            self.outgoing.finish()

    def reset(self) -> None:
        """Cut the connection."""
        for direction in (self.outgoing, self.incoming):
            direction.is_broken = True
            direction.on_arrival()
            direction.on_room()


class Socket:
    """The end that the worker holds, with the methods of a non-blocking socket."""

    family, type, proto = socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP

    def __init__(self, network: "Network", end: End, peer: tuple[str, int]) -> None:
        self._network = network
        self._end = end
        self._peer = peer
        self._has_finished = self.is_closed = False
        self._number = network.add(self)
        self._incoming, self._outgoing = end.outgoing, end.incoming
        self._incoming.on_arrival = self._outgoing.on_room = self._notify

    def fileno(self) -> int:
        return -1 if self.is_closed else self._number

    def getsockname(self) -> tuple[str, int]:
        return "10.0.0.1", 8000

    def getpeername(self) -> tuple[str, int]:
        return self._peer

    def setblocking(self, _flag: bool) -> None:
        pass

    def setsockopt(self, *_: Any) -> None:
        pass

    def ready_events(self) -> int:
        """Return what the socket is ready for."""
        incoming, is_reset = self._incoming, self._incoming.is_broken
        events = 0
        if incoming.arrived or incoming.has_ended or is_reset:
            events |= selectors.EVENT_READ
        if self._outgoing.room > 0 or is_reset:
            events |= selectors.EVENT_WRITE
        return events

    def recv(self, size: int) -> bytes:
        if self._incoming.is_broken:
            raise ConnectionResetError("reset by the client")
        if self._incoming.arrived:
            return self._incoming.take(size)
        if self._incoming.has_ended:
            return b""
        raise BlockingIOError

    def recv_into(self, buffer: Any) -> int:
        received = self.recv(len(buffer))
        buffer[: len(received)] = received
        return len(received)

    def send(self, content: Any) -> int:
        if self._incoming.is_broken:
            raise BrokenPipeError("reset by the client")
        if self._outgoing.room <= 0:
            raise BlockingIOError
        if self._end.answered_at < self._incoming.arrived_at:
            self._end.answered_at = self._network.world.now
        sent = self._outgoing.send(bytes(content))
        self._network.world.counts["unread responses"] += sent < len(content)
        return sent

    def sendmsg(self, buffers: Iterable[Any]) -> int:
        return self.send(b"".join(buffers))

    def shutdown(self, _how: int) -> None:
        self._finish()

    def close(self) -> None:
        """Close the socket; the client gets a reset if there is unread content."""
        if self.is_closed:
            return
        self.is_closed = True
        self._network.remove(self._number)
        if self._incoming.arrived and not self._incoming.is_broken:
            self._network.world.after(0, self._end.reset)
        self._finish()
        self._incoming.on_arrival = self._outgoing.on_room = self._answer_with_reset

    def _finish(self) -> None:
        if not self._has_finished:
            self._has_finished = True
            self._outgoing.finish()

    def _answer_with_reset(self) -> None:
        if self._incoming.arrived and not self._incoming.is_broken:
            self._end.reset()

    def _notify(self) -> None:
        self._network.on_ready(self._number)


class Listener:
    """The listening socket of a worker; the queue outlives it, as the master's does."""

    def __init__(self, network: "Network") -> None:
        self._network = network
        self._number = network.add(self)

    def fileno(self) -> int:
        return self._number

    def ready_events(self) -> int:
        return selectors.EVENT_READ if self._network.queue else 0

    def accept(self) -> tuple[Socket, Any]:
        if not self._network.queue:
            raise BlockingIOError
        end, peer = self._network.queue.popleft()
        end.accepted_at = self._network.world.now
        return Socket(self._network, end, peer), peer

    def close(self) -> None:
        self._network.remove(self._number)


class Server(Protocol):
    """A simulated server that the worker connects to."""

    def accept(self, end: End) -> None: ...

    @property
    def state(self) -> str: ...


class Network:
    """All sockets of the worker, the listen queue, and the servers by their names."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.queue: deque[tuple[End, tuple[str, int]]] = deque()
        self.servers: dict[str, Server] = {}
        self.on_ready: Callable[[int], None] = lambda _number: None
        self._sockets: dict[int, Socket | Listener] = {}
        self._numbers = itertools.count(FIRST_DESCRIPTOR)
        self._connections: Counter[str] = Counter()  # by who has made them

    def add(self, each: Socket | Listener) -> int:
        """Give a socket its number."""
        number = next(self._numbers)
        self._sockets[number] = each
        return number

    def remove(self, number: int) -> None:
        """Forget a socket."""
        self._sockets.pop(number, None)

    def ready_events(self, number: int) -> int:
        """Return what a socket is ready for; a real one never is."""
        each = self._sockets.get(number)
        return each.ready_events() if each else 0

    def open_sockets(self) -> int:
        """Return how many connections the worker has."""
        return sum(isinstance(each, Socket) for each in self._sockets.values())

    def close_all(self) -> None:
        """Close what a killed worker had open, as the kernel does."""
        self.on_ready = lambda _number: None
        for each in list(self._sockets.values()):
            each.close()

    async def connect(self, who: str, address: str, link: Link) -> End:
        """Connect to the service; wait for room in its listen queue."""
        await self.world.sleep(link.seconds)
        while len(self.queue) >= BACKLOG:
            self.world.counts["full listen queue"] += 1
            await self.world.sleep(SYN_SECONDS)
        end = self._pair(who, link)
        self.queue.append((end, (address, 40_000 + self._connections[who])))
        for number, each in self._sockets.items():
            if isinstance(each, Listener):
                self.on_ready(number)
        return end

    def connect_to_server(self, host: str, connected: asyncio.Future[Socket]) -> None:
        """Connect the worker to a server, which may refuse or be silent."""
        server = self.servers[host]
        if server.state != "silent":
            self.world.after(0.0005, self._end_connecting, server, host, connected)

    def _end_connecting(
        self, server: Server, host: str, connected: asyncio.Future[Socket]
    ) -> None:
        loop = connected.get_loop()
        if connected.done() or loop.is_closed():
            return
        if server.state == "down":
            refused = ConnectionRefusedError(f"{host} refuses connections")
            loop.call_soon_threadsafe(_fail, connected, refused)
            return
        end = self._pair(host, Link())
        server.accept(end)
        socket = Socket(self, end, (host, 6379))
        loop.call_soon_threadsafe(_succeed, connected, socket)

    def _pair(self, who: str, link: Link) -> End:
        self._connections[who] += 1
        dice = self.world.dice(f"{who} {self._connections[who]}")
        to_client = Direction(self.world, dice, link, link.window)
        to_worker = Direction(self.world, dice, link, WINDOW_BYTES)
        return End(self.world, to_client, to_worker)


def _fail(connected: asyncio.Future[Any], error: Exception) -> None:
    if not connected.done():
        connected.set_exception(error)


def _succeed(connected: asyncio.Future[Any], socket: Socket) -> None:
    if connected.done():
        socket.close()
    else:
        connected.set_result(socket)
