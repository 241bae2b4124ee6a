"""A TCP proxy that simulates network faults between the service and a store."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer

from tests.harness.listening import listening

CHUNK_BYTES = 65536


class Proxy(ThreadingTCPServer):
    """A proxy to a local port that can withhold or break connections."""

    request_queue_size = 256
    daemon_threads = True

    def __init__(self, target: int, host: str = "127.0.0.1") -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.target, self.host = target, host  # where new connections lead to
        self.port = self.server_address[1]
        self.passes = threading.Event()
        self.sockets: list[socket.socket] = []
        self.restore()

    def restore(self) -> None:
        """Forward traffic again, including what was withheld."""
        self.passes.set()

    def forget(self) -> None:
        """Withhold the traffic of each connection for ever, but not of new ones."""
        self.passes.clear()
        self.passes = threading.Event()
        self.restore()

    def cut(self) -> None:
        """Break every connection."""
        for side in list(self.sockets):
            with suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)


class _Connection(BaseRequestHandler):
    def handle(self) -> None:
        self._passes = self.server.passes
        self._passes.wait()
        address = (self.server.host, self.server.target)
        with suppress(OSError), socket.create_connection(address, 5) as target:
            target.settimeout(None)
            sides = (self.request, target)
            for side in sides:
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.server.sockets += sides
            back = threading.Thread(target=self._pass_on, args=sides[::-1], daemon=True)
            back.start()
            self._pass_on(*sides)
            back.join()
            for side in sides:
                self.server.sockets.remove(side)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while received := source.recv(CHUNK_BYTES):
                self._passes.wait()
                target.sendall(received)
        for side in (source, target):
            with suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy(target: int, host: str = "127.0.0.1") -> Iterator[Proxy]:
    """Run a proxy in front of that port for the duration of the block."""
    proxy = Proxy(target, host)
    with listening(proxy):
        try:
            yield proxy
        finally:
            proxy.restore()
            proxy.cut()
