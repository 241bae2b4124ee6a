"""When keys were last used: noted in passing, written away from any request."""

import threading

import peewee

from petstore import clock
from petstore.database import data
from petstore.models.keys import Caller, Key

# The note is coarse: at most one for a key in this time, written a little later.
STEP_MS = 10 * clock.MS_PER_MINUTE
WRITE_AFTER_SECONDS = 1.0

_lock = threading.Lock()
_used_ms: dict[int, int] = {}


def note(caller: Caller) -> None:
    """Remember the use of a key; it may be lost when the process ends."""
    now = clock.now_ms()
    if now - (caller.last_used_ms or 0) < STEP_MS:
        return
    with _lock:
        is_first = not _used_ms
        _used_ms[caller.key_id] = now
    if is_first:
        writer = threading.Timer(WRITE_AFTER_SECONDS, write)
        writer.daemon = True
        writer.start()


def write() -> None:
    """Write what was noted, in one transaction."""
    with _lock:
        noted = dict(_used_ms)
        _used_ms.clear()
    if not noted:
        return
    try:
        Key.mark_used(noted)
    except peewee.DatabaseError:
        pass  # the next use is noted again
    finally:
        data.close()
