"""A relay in front of a store: it counts statements and round trips.

It understands as much of the protocols of PostgreSQL and Redis as counting takes.
"""

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

CHUNK_BYTES = 1 << 16
# A message to PostgreSQL begins with its type, except those that open a connection;
# then comes its length, without the type. A length begins with a zero.
EXECUTED = b"QE"  # simple queries, and prepared ones
COMMAND = re.compile(rb"\*\d+\r\n\$\d+\r\n")  # of Redis: an array of strings


class Relay:
    """A relay to a store, at `url`."""

    def __init__(self, url: str) -> None:
        self.statements = 0
        self.round_trips = 0
        self._store = urlsplit(url)
        self.is_redis = self._store.scheme == "redis"
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        port = self._listener.getsockname()[1]
        user = f"{self._store.username}@" if self._store.username else ""
        self.url = f"{self._store.scheme}://{user}127.0.0.1:{port}{self._store.path}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                _Connection(self, client, self._connect()).start()

    def _connect(self) -> socket.socket:
        [directory] = parse_qs(self._store.query).get("host", [""])
        if not directory:
            address = (self._store.hostname, self._store.port)
            return socket.create_connection(address)
        store = socket.socket(socket.AF_UNIX)
        store.connect(f"{directory}/.s.PGSQL.{self._store.port or 5432}")
        return store


@contextlib.contextmanager
def relay(url: str) -> Iterator[Relay]:
    """Run a relay to the store at that URL for the duration of the block."""
    running = Relay(url)
    try:
        yield running
    finally:
        running.close()


class _Connection:
    """Two threads that copy what a client and a store send."""

    def __init__(
        self, relay: Relay, client: socket.socket, store: socket.socket
    ) -> None:
        self._relay = relay
        self._client = client
        self._store = store
        self._has_answered = True
        self._rest = b""  # a message to PostgreSQL that has not arrived as a whole

    def start(self) -> None:
        for side in (self._client, self._store):
            if side.family == socket.AF_INET:
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for copy in (self._send, self._receive):
            threading.Thread(target=copy, daemon=True).start()

    def _send(self) -> None:
        for received in _chunks(self._client):
            self._relay.statements += self._executed(received)
            self._relay.round_trips += self._has_answered
            self._has_answered = False
            self._store.sendall(received)
        with contextlib.suppress(OSError):
            self._store.shutdown(socket.SHUT_RDWR)

    def _receive(self) -> None:
        for received in _chunks(self._store):
            self._has_answered = True
            with contextlib.suppress(OSError):
                self._client.sendall(received)
        self._client.close()

    def _executed(self, received: bytes) -> int:
        if self._relay.is_redis:
            return len(COMMAND.findall(received))
        executed, messages = 0, self._rest + received
        while len(messages) > 4:
            has_type = messages[0] != 0
            length = int.from_bytes(messages[has_type : has_type + 4]) + has_type
            if len(messages) < length:
                break
            executed += messages[0] in EXECUTED
            messages = messages[length:]
        self._rest = messages
        return executed


def _chunks(side: socket.socket) -> Iterator[bytes]:
    with contextlib.suppress(OSError):
        while received := side.recv(CHUNK_BYTES):
            yield received
