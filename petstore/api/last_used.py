"""When keys were last used: noted in passing, written away from any request."""

import threading

import peewee

from petstore import clock
from petstore.database import data
from petstore.models.callers import Caller
from petstore.models.keys import Key

# The note is coarse: at most one for a key in this time, written a little later.
STEP_MS = 10 * clock.MS_PER_MINUTE
WRITE_AFTER_SECONDS = 1.0


class LastUsed:
    """Collects notes of a process and writes them from a thread of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used_ms: dict[int, int] = {}
        self._writer: threading.Timer | None = None

    def note(self, caller: Caller) -> None:
        """Remember the use of a key; it may be lost when the process is killed."""
        now = clock.now_ms()
        if now - (caller.last_used_ms or 0) < STEP_MS:
            return
        with self._lock:
            is_first = not self._used_ms
            self._used_ms[caller.key_id] = now
            if is_first:
                self._writer = threading.Timer(WRITE_AFTER_SECONDS, self._write)
                self._writer.daemon = True
                self._writer.start()

    def flush(self) -> None:
        """Write what was noted, before the process ends."""
        writer = self._writer
        if writer:
            writer.cancel()
            writer.join()
            self._write()

    def _write(self) -> None:
        with self._lock:
            noted, self._used_ms = self._used_ms, {}
        if not noted:
            return
        try:
            Key.mark_used(noted)
        except peewee.DatabaseError:
            pass  # the next use is noted again
        finally:
            data.disconnect()


last_used = LastUsed()
