"""Detection of stalls of the machine, which are no faults of the service."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from tests.harness.crowds import going_on

BEAT_SECONDS = 0.01
# A machine that stalls this long is too busy for limits of milliseconds.
CALM_SECONDS = 0.04


class Pulse:
    """A beat a hundred times a second on each core, which is late if it is busy."""

    def __init__(self) -> None:
        self._beats: list[tuple[float, float]] = []

    def was_calm(self, since: float) -> bool:
        """Return whether no beat has been late from that moment on."""
        return all(late < CALM_SECONDS for at, late in self._beats if at >= since)

    def _beat(self, core: int, has_ended: threading.Event) -> None:
        os.sched_setaffinity(0, {core})  # of this thread only
        at = time.monotonic()
        while not has_ended.wait(BEAT_SECONDS):
            now = time.monotonic()
            self._beats.append((now, now - at - BEAT_SECONDS))
            at = now


@contextmanager
def pulse() -> Iterator[Pulse]:
    """Run a pulse for the duration of the block."""
    pulse = Pulse()
    with going_on(*(partial(pulse._beat, core) for core in os.sched_getaffinity(0))):
        yield pulse
