"""A network between simulated clients, the worker's sockets and simulated servers."""

import errno
import fcntl
import itertools
import random
import selectors
import socket
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import gevent
import gevent._socket3 as gevent_sockets
from gevent._socketcommon import SocketMixin

from tests.together.simulation.world import Bell, World

BACKLOG = 128
SYN_SECONDS = 1.0  # before a client that found a full listen queue tries again
WINDOW_BYTES = 64 * 1024
FIRST_DESCRIPTOR = 1_000_000  # no real file has such a number
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE  # gevent's are the same


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


class Descriptor:
    """What has a number, like a socket of the worker."""

    family, type, proto = socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP

    def __init__(self, network: "Network") -> None:
        self._network = network
        self._number = network.add(self)
        self.is_closed = False

    def fileno(self) -> int:
        return -1 if self.is_closed else self._number

    def getsockname(self) -> tuple[str, int]:
        return "10.0.0.1", 8000

    def setsockopt(self, *_: Any) -> None:
        pass

    def close(self) -> None:
        self.is_closed = True
        self._network.remove(self._number)

    def ready_events(self) -> int:
        """Return what it is ready for."""
        raise NotImplementedError


class Socket(Descriptor):
    """The end that the worker holds, with the methods of a non-blocking socket."""

    def __init__(
        self, network: "Network", end: End | None, peer: tuple[str, int] | None = None
    ) -> None:
        super().__init__(network)
        self._peer = peer
        self._has_finished = self._has_stopped_reading = False
        self.is_accepted = end is not None
        self.error = 0
        self._end: End | None = None
        if end:
            self.join(end)

    def join(self, end: End) -> None:
        """Be the other end of that one."""
        self._end = end
        self._incoming, self._outgoing = end.outgoing, end.incoming
        self._incoming.on_arrival = self._outgoing.on_room = self._notify
        self._notify()

    def connect_ex(self, address: tuple[str, int]) -> int:
        """Begin to connect to a server, or tell that it has happened."""
        if self._peer is None:
            self._peer = address
            self._network.connect_to_server(address[0], self)
        return 0 if self._end else errno.EINPROGRESS

    def getpeername(self) -> tuple[str, int] | None:
        return self._peer

    def getsockopt(self, _level: int, option: int) -> int:
        error, self.error = self.error, 0
        return error if option == socket.SO_ERROR else WINDOW_BYTES

    def ready_events(self) -> int:
        """Return what the socket is ready for."""
        if self._end is None:
            return WRITE if self.error else 0
        is_reset = self._incoming.is_broken
        can_read = self._incoming.arrived or self._is_at_end() or is_reset
        can_write = self._outgoing.room > 0 or is_reset
        return READ * bool(can_read) | WRITE * can_write

    def recv(self, size: int, flags: int = 0) -> bytes:
        if self._incoming.is_broken:
            raise ConnectionResetError(errno.ECONNRESET, "reset by the client")
        if self._incoming.arrived and flags & socket.MSG_PEEK:
            return bytes(self._incoming.arrived[:size])
        if self._incoming.arrived:
            return self._incoming.take(size)
        if self._is_at_end():
            return b""
        raise BlockingIOError(errno.EAGAIN, "nothing has arrived")

    def arrived_bytes(self) -> bytes:
        """Return how many bytes have arrived, as FIONREAD tells it."""
        return len(self._incoming.arrived).to_bytes(4, sys.byteorder)

    def recv_into(self, buffer: Any, *_: int) -> int:
        received = self.recv(len(buffer))
        buffer[: len(received)] = received
        return len(received)

    def send(self, content: Any, _flags: int = 0) -> int:
        if self._incoming.is_broken or self._has_finished:
            raise BrokenPipeError(errno.EPIPE, "it cannot be sent")
        if self._outgoing.room <= 0:
            raise BlockingIOError(errno.EAGAIN, "no room")
        if self._end.answered_at < self._incoming.arrived_at:
            self._end.answered_at = self._network.world.now
        sent = self._outgoing.send(bytes(content))
        self._network.world.counts["unread responses"] += sent < len(content)
        return sent

    def shutdown(self, how: int) -> None:
        if how != socket.SHUT_WR:
            self._has_stopped_reading = True
            self._notify()
        if how != socket.SHUT_RD:
            self._finish()

    def close(self) -> None:
        """Close the socket; the client gets a reset if there is unread content."""
        if self.is_closed:
            return
        super().close()
        if not self._end:
            return
        if self._incoming.arrived and not self._incoming.is_broken:
            self._network.world.after(0, self._end.reset)
        self._finish()
        self._incoming.on_arrival = self._outgoing.on_room = self._answer_with_reset

    def _is_at_end(self) -> bool:
        return self._incoming.has_ended or self._has_stopped_reading

    def _finish(self) -> None:
        if self._end and not self._has_finished:
            self._has_finished = True
            self._outgoing.finish()

    def _answer_with_reset(self) -> None:
        if self._incoming.arrived and not self._incoming.is_broken:
            self._end.reset()

    def _notify(self) -> None:
        self._network.on_ready(self._number)


class Listener(Descriptor):
    """The listening socket of a worker; the queue outlives it, as the master's does."""

    def ready_events(self) -> int:
        """Return whether a client waits."""
        return READ if self._network.queue else 0

    def _accept(self) -> tuple[int, tuple[str, int]]:
        """Accept a connection: gevent's sockets call this name of Python's."""
        if not self._network.queue:
            raise BlockingIOError(errno.EAGAIN, "nobody waits")
        end, peer = self._network.queue.popleft()
        end.accepted_at = self._network.world.now
        return Socket(self._network, end, peer).fileno(), peer


class Network:
    """All sockets of the worker, the listen queue, and the servers by their names."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.queue: deque[tuple[End, tuple[str, int]]] = deque()
        self.servers: dict[str, Any] = {}
        self.on_ready: Callable[[int], None] = lambda _number: None
        self._sockets: dict[int, Descriptor] = {}
        self._numbers = itertools.count(FIRST_DESCRIPTOR)
        self._connections: Counter[str] = Counter()  # by who has made them
        GeventSocket.network = self
        socket.socket = gevent_sockets.socket = GeventSocket
        fcntl.ioctl = lambda each, *_: each._sock.arrived_bytes()

    def listener(self) -> Any:
        """Return a socket of gevent that listens."""
        return GeventSocket(fileno=Listener(self).fileno())

    def add(self, each: Descriptor) -> int:
        """Give a socket its number."""
        number = next(self._numbers)
        self._sockets[number] = each
        return number

    def remove(self, number: int) -> None:
        """Forget a socket."""
        self._sockets.pop(number, None)

    def at(self, number: int) -> Descriptor:
        """Return a socket."""
        return self._sockets[number]

    def ready_events(self, number: int) -> int:
        """Return what a socket is ready for; a real one never is."""
        each = self._sockets.get(number)
        return each.ready_events() if each else 0

    def open_sockets(self) -> int:
        """Return how many connections of clients the worker has."""
        sockets = self._sockets.values()
        return sum(isinstance(each, Socket) and each.is_accepted for each in sockets)

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

    def connect_to_server(self, host: str, connecting: Socket) -> None:
        """Connect the worker to a server, which may refuse or be silent."""
        if self.servers[host].state != "silent":
            self.world.after(0.0005, self._end_connecting, host, connecting)

    def _end_connecting(self, host: str, connecting: Socket) -> None:
        if connecting.is_closed:
            return
        if self.servers[host].state == "down":
            connecting.error = errno.ECONNREFUSED
            self.on_ready(connecting.fileno())
            return
        end = self._pair(host, Link())
        self.servers[host].accept(end)
        connecting.join(end)

    def _pair(self, who: str, link: Link) -> End:
        self._connections[who] += 1
        dice = self.world.dice(f"{who} {self._connections[who]}")
        to_client = Direction(self.world, dice, link, link.window)
        to_worker = Direction(self.world, dice, link, WINDOW_BYTES)
        return End(self.world, to_client, to_worker)


class GeventSocket(gevent_sockets.socket):
    """gevent's socket around a simulated one."""

    network: Network

    def __init__(self, *_: Any, fileno: int | None = None) -> None:
        SocketMixin.__init__(self)
        network = self.network
        self._sock = Socket(network, None) if fileno is None else network.at(fileno)
        self._closed, self._io_refs, self.timeout = False, 0, None
        self.hub = gevent.get_hub()
        self._read_event = self.hub.loop.io(self._sock.fileno(), READ)
        self._write_event = self.hub.loop.io(self._sock.fileno(), WRITE)
