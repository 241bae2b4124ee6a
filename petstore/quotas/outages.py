"""What the workers of a host know together: which parts of the counter store are lost.

So the host says once that a part is lost, and once that it is back. The memory is made
when this is imported, which gunicorn.conf.py does before there are workers.
"""

import fcntl
import mmap
import os
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from struct import Struct

PARTS = 4096
# A store that comes and goes faster than this is one outage.
SETTLED_SECONDS = 1.5

# Whether it was said to be lost, and when it last did not answer.
_Part = Struct("=?d")
_descriptor, _path = tempfile.mkstemp(prefix="petstore-outages-")
os.unlink(_path)
os.truncate(_descriptor, PARTS * _Part.size)
_parts = mmap.mmap(_descriptor, PARTS * _Part.size)


def is_on(part: str) -> bool:
    """Whether the part was said to be lost, and not yet to be back."""
    return bool(_parts[_place(part)])


def note_failure(part: str) -> bool:
    """The part did not answer; whether that begins an outage."""
    with _locked(part) as place:
        is_known, _ = _Part.unpack_from(_parts, place)
        _Part.pack_into(_parts, place, True, time.monotonic())
        return not is_known


def note_answer(part: str) -> bool:
    """The part has answered; whether that ends an outage."""
    return _end(part, SETTLED_SECONDS)


def note_replacement(part: str) -> bool:
    """The part is of no use any more; whether that ends an outage."""
    return _end(part, 0.0)


def _end(part: str, settled_seconds: float) -> bool:
    with _locked(part) as place:
        is_known, failed_at = _Part.unpack_from(_parts, place)
        if not is_known or time.monotonic() - failed_at < settled_seconds:
            return False
        _Part.pack_into(_parts, place, False, 0.0)
        return True


def _place(part: str) -> int:
    return zlib.crc32(part.encode()) % PARTS * _Part.size


@contextmanager
def _locked(part: str) -> Iterator[int]:
    """Keep the other processes out; a lock of one that dies goes with it."""
    place = _place(part)
    fcntl.lockf(_descriptor, fcntl.LOCK_EX, _Part.size, place)
    try:
        yield place
    finally:
        fcntl.lockf(_descriptor, fcntl.LOCK_UN, _Part.size, place)
