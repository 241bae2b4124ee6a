"""Lets a response wait while its client reads too slowly."""

import asyncio

from petstore import waiting


class FlowControl:
    """Whether the write buffer of a connection is full."""

    def __init__(self) -> None:
        self._resumed: asyncio.Future[None] | None = None
        self.is_paused = False  # whether the client has to read before more is written

    def pause(self) -> None:
        """Have the next `drain` wait."""
        self._resumed = asyncio.get_running_loop().create_future()
        self.is_paused = True

    def resume(self) -> None:
        """End the wait."""
        if self._resumed:
            self._resumed.set_result(None)
            self._resumed = None
        self.is_paused = False

    def drain(self) -> None:
        """Wait while writing is paused."""
        if self._resumed:
            waiting.await_result(self._resumed)
