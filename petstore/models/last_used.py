"""When keys were last used: noted during requests, written in the background."""

import asyncio
from contextlib import suppress

import peewee

from petstore import clock
from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.waiting import await_result, start_in_background

# A key is noted once in this time at most.
STEP_MS = 10 * clock.MS_PER_MINUTE
WRITE_AFTER_SECONDS = 1.0


class LastUsed:
    """Collects the notes of a process and writes them together."""

    def __init__(self) -> None:
        self._used_ms: dict[int, int] = {}

    def note(self, caller: Caller) -> None:
        """Note that a key is used; the note may be lost if the process is killed."""
        now = clock.now_ms()
        if now - (caller.last_used_ms or 0) < STEP_MS:
            return
        used_ms = self._used_ms  # another thread may flush meanwhile
        if not used_ms:
            start_in_background(self._flush_later, used_ms)
        used_ms[caller.key_id] = now

    def flush(self) -> None:
        """Write all notes, before the process ends."""
        used_ms, self._used_ms = self._used_ms, {}
        if used_ms:
            # If this fails, the keys are noted again when they are used next.
            with suppress(peewee.DatabaseError):
                Key.mark_used(used_ms)

    def _flush_later(self, used_ms: dict[int, int]) -> None:
        await_result(asyncio.sleep(WRITE_AFTER_SECONDS))
        if used_ms is self._used_ms:
            self.flush()


last_used = LastUsed()
