"""Where connections come in, and how the workers of a host share them.

A connection that is kept alive stays with the worker that accepted it, and the first
to wake would accept a whole burst. So each tells the others how many it has, in
memory that is made when this is imported, which gunicorn does before there are workers.
"""

import mmap
import select

from gunicorn.sock import BaseSocket

SLOTS = 64  # more workers than that share them

# 0 where there is no worker, else one more than its connections.
_shares = memoryview(mmap.mmap(-1, SLOTS * 4)).cast("I")


def note(number: int, connections: int) -> None:
    """Tell the others how many connections the worker of that number has."""
    _shares[number % SLOTS] = connections + 1


def leave(number: int) -> None:
    """The worker of that number has ended, in whatever way."""
    _shares[number % SLOTS] = 0


class Door:
    """The listening sockets of a worker, which a poller watches while it is open."""

    def __init__(self, sockets: list[BaseSocket], poller: "select.epoll") -> None:
        self._poller = poller
        self._sockets = {each.fileno(): each for each in sockets}
        for each in sockets:
            each.setblocking(False)
        self.is_open = False
        self._acceptable = select.EPOLLIN | select.EPOLLEXCLUSIVE
        self._has_stepped_back = False

    def open(self) -> None:
        """Let clients in."""
        if not self.is_open:
            self.is_open = True
            for descriptor in self._sockets:
                self._poller.register(descriptor, self._acceptable)

    def close(self) -> None:
        """Let nobody in."""
        if self.is_open:
            self.is_open = False
            for descriptor in self._sockets:
                self._poller.unregister(descriptor)

    def socket_of(self, descriptor: int) -> BaseSocket | None:
        """The listening socket of that descriptor, if it is one."""
        return self._sockets.get(descriptor)

    def is_left_to_others(self, connections: int) -> bool:
        """Whether to close for a moment, since another worker has fewer connections.

        Once only: one that has fewer may be too busy to take more.
        """
        others_have_fewer = any(0 < share <= connections for share in _shares.tolist())
        self._has_stepped_back = others_have_fewer and not self._has_stepped_back
        return self._has_stepped_back
