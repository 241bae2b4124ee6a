"""All connections of a worker."""

import time

from petstore.edge import door
from petstore.edge.connection import Connection


class Connections:
    """The open connections by descriptor; a busy one has a request in progress."""

    def __init__(self, worker: int) -> None:
        self._worker = worker
        self._open: dict[int, Connection] = {}
        door.note(worker, 0)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: Connection) -> None:
        """A client has connected."""
        self._open[connection.descriptor] = connection
        door.note(self._worker, len(self._open))

    def take(self, descriptor: int) -> Connection | None:
        """Make a connection the caller's own, unless it is closed or taken."""
        connection = self._open.get(descriptor)
        # What polling said may be about an earlier socket of that number.
        if connection is None or connection.is_busy:
            return None
        connection.is_busy = True
        return connection

    def close(self, connection: Connection) -> None:
        """End a connection."""
        self._open.pop(connection.descriptor, None)
        connection.socket.close()
        door.note(self._worker, len(self._open))

    def close_late(self) -> None:
        """End those whose clients did not get on in time."""
        now = time.monotonic()
        for connection in self._waiting():
            if connection.is_late(now):
                self.close(connection)

    def close_one(self) -> None:
        """Make room: end the one whose client has had the most time."""
        waiting = self._waiting()
        if waiting:
            self.close(min(waiting, key=lambda connection: connection.since))

    def hurry(self, seconds: float) -> None:
        """Give those who have asked nothing no more than so much time."""
        end = time.monotonic() + seconds
        for connection in self._waiting():
            if connection.is_silent():
                connection.deadline = min(connection.deadline, end)

    def _waiting(self) -> list[Connection]:
        return [c for c in self._open.values() if not c.is_busy]
