"""Whether the machine itself stood still, so that nobody else is blamed for it."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

BEAT_SECONDS = 0.01
# A machine that skips as much as this has too much to do for limits of milliseconds.
CALM_SECONDS = 0.04


class Pulse:
    """Beats a hundred times a second on each core, or later where it is too busy."""

    def __init__(self) -> None:
        self._beats: list[tuple[float, float]] = []
        self._has_ended = threading.Event()
        self._threads = [
            threading.Thread(target=self._beat, args=(core,))
            for core in os.sched_getaffinity(0)
        ]

    def was_calm(self, since: float) -> bool:
        """Whether no beat came late from that moment on."""
        return all(late < CALM_SECONDS for at, late in self._beats if at >= since)

    def _beat(self, core: int) -> None:
        os.sched_setaffinity(0, {core})  # this thread alone
        at = time.monotonic()
        while not self._has_ended.wait(BEAT_SECONDS):
            now = time.monotonic()
            self._beats.append((now, now - at - BEAT_SECONDS))
            at = now


@contextmanager
def pulse() -> Iterator[Pulse]:
    """A pulse for as long as the block runs."""
    pulse = Pulse()
    for thread in pulse._threads:
        thread.start()
    try:
        yield pulse
    finally:
        pulse._has_ended.set()
        for thread in pulse._threads:
            thread.join()
