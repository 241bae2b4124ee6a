"""Limits what all clients of a worker keep in its memory together."""

import ctypes
from collections import OrderedDict
from typing import Protocol

from petstore import timeouts

# Only the GNU C library has it. Without it, memory that was freed may stay with the
# process, which uses it again.
_malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)


class Keeper(Protocol):
    """A connection, which keeps bytes of its client."""

    def abort(self) -> None:
        """Close the connection at once and discard the bytes."""


class Memory:
    """The bytes of requests that have not begun and of unsent responses, by connection.

    A limit for each connection is none for a worker: it has thousands of them.
    """

    def __init__(self) -> None:
        # In the order in which they began to keep bytes.
        self._kept: OrderedDict[Keeper, int] = OrderedDict()
        self._total = 0
        self._peak = 0  # of the total, since freed memory was last returned

    def note(self, connection: Keeper, count: int) -> None:
        """Note what a connection keeps; close the oldest ones if it is too much."""
        if not count:
            self.forget(connection)
            return
        self._total += count - self._kept.get(connection, 0)
        self._kept[connection] = count
        self._peak = max(self._peak, self._total)
        while self._total > timeouts.LIMITS.kept_bytes:
            oldest = next(iter(self._kept))
            self.forget(oldest)
            oldest.abort()

    def forget(self, connection: Keeper) -> None:
        """Note that a connection keeps nothing any more."""
        self._total -= self._kept.pop(connection, 0)

    def trim(self) -> None:
        """Return freed memory to the system, if clients keep much less than before.

        The allocator itself returns only what lies at the end of its memory.
        """
        if self._peak - self._total > timeouts.LIMITS.freed_bytes and _malloc_trim:
            self._peak = self._total
            _malloc_trim(0)
