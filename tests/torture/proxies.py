"""A TCP proxy that simulates network faults between the service and a store."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

CHUNK_BYTES = 65536


class Proxy:
    """A proxy to a local port that can delay, withhold or break connections."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._passes = threading.Event()
        self._passes.set()
        self._has_ended = False
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self._listener.getsockname()[1]
        self.delay: Callable[[], float] = lambda: 0.0
        threading.Thread(target=self._accept, daemon=True).start()

    def drop(self) -> None:
        """Withhold all traffic, without closing connections."""
        self._passes.clear()

    def restore(self) -> None:
        """Forward traffic again, including what was withheld."""
        self.delay = lambda: 0.0
        self._passes.set()

    def cut(self) -> None:
        """Break every connection."""
        for side in self._sockets:
            with suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop the proxy and break every connection."""
        self._has_ended = True
        self.restore()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while not self._has_ended:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client: socket.socket) -> None:
        self._passes.wait()
        try:
            server = socket.create_connection(("127.0.0.1", self._target), 5)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        for side in (client, server):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets.append(side)
        back = threading.Thread(
            target=self._pass_on, args=(server, client, True), daemon=True
        )
        back.start()
        self._pass_on(client, server, False)
        back.join()
        for side in (client, server):
            self._sockets.remove(side)
            side.close()

    def _pass_on(
        self, source: socket.socket, target: socket.socket, is_answer: bool
    ) -> None:
        with suppress(OSError):
            while received := source.recv(CHUNK_BYTES):
                if is_answer and (seconds := self.delay()):
                    time.sleep(seconds)
                self._passes.wait()
                target.sendall(received)
        for side in (source, target):
            with suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy(target: int) -> Iterator[Proxy]:
    """Run a proxy in front of that port for the duration of the block."""
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
