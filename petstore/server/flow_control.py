"""Lets a response wait while its client reads too slowly."""

import asyncio

from petstore.server import concurrency


class FlowControl:
    """Whether the write buffer of a connection is full."""

    def __init__(self) -> None:
        self._resumed: asyncio.Future[None] | None = None

    @property
    def is_paused(self) -> bool:
        """Whether the client has to read before more is written."""
        return self._resumed is not None

    def pause(self) -> None:
        """Have the next `drain` wait."""
        self._resumed = asyncio.get_running_loop().create_future()

    def resume(self) -> None:
        """End the wait."""
        if self._resumed:
            self._resumed.set_result(None)
            self._resumed = None

    def drain(self) -> None:
        """Wait while writing is paused."""
        if self._resumed:
            concurrency.await_result(self._resumed)
