"""Which of a worker's threads looks for the next request.

Threads that compute at once take Python's lock from each other at every call to the
system. So one of them leads: it looks for requests and answers them itself, until it
has to wait for somebody else for long, and gives way.
"""

import threading

# A store as a rule answers sooner than another thread would have taken over.
SHORT_WAIT_SECONDS = 0.002


class Turns:
    """The turns of the threads of one worker."""

    def __init__(self) -> None:
        self._leading = threading.Lock()

    def lead(self, patience_seconds: float) -> bool:
        """Become the thread that leads, or stay it."""
        if _present.led is None and self._leading.acquire(timeout=patience_seconds):
            _present.led = self
        return _present.led is self

    def resign(self) -> None:
        """Let another thread lead; to be called by the one that does."""
        _present.led = None
        self._leading.release()


class _Present(threading.local):
    led: Turns | None = None


_present = _Present()


def give_way() -> None:
    """Let another thread go on, since this one is about to wait."""
    if _present.led:
        _present.led.resign()
