"""When keys were last used: noted during requests, written by a thread."""

import threading

import peewee

from petstore import clock
from petstore.database import data
from petstore.models.callers import Caller
from petstore.models.keys import Key

# A key is noted once in this time at most.
STEP_MS = 10 * clock.MS_PER_MINUTE
WRITE_AFTER_SECONDS = 1.0


class LastUsed:
    """Collects the notes of a process and writes them in the background."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used_ms: dict[int, int] = {}
        self._writer: threading.Timer | None = None

    def note(self, caller: Caller) -> None:
        """Note that a key is used; the note may be lost if the process is killed."""
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
        """Write all notes, before the process ends."""
        writer = self._writer
        if writer:
            writer.cancel()
            writer.join()
            self._write()

    def _write(self) -> None:
        with self._lock:
            used_ms, self._used_ms = self._used_ms, {}
        if not used_ms:
            return
        try:
            Key.mark_used(used_ms)
        except peewee.DatabaseError:
            pass  # the keys are noted again when they are used next
        finally:
            data.disconnect()


last_used = LastUsed()
