"""Files of SQLite: made for their owner alone, since they hold the signing secret."""

import os
import stat
from contextlib import suppress

OWNER_ALONE = 0o600
READABLE_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH
# What SQLite puts beside a file, with the mode that the file has.
SIDE_FILES = ("-wal", "-shm", "-journal")


def make_private(path: str) -> None:
    """Make an empty file for its owner alone, whatever the umask, if there is none.

    A file that is there stays as it is. Where none can be made, the failure is left to
    SQLite, which will meet it too.
    """
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
    with suppress(OSError):
        descriptor = os.open(path, flags, OWNER_ALONE)
        try:
            os.fchmod(descriptor, OWNER_ALONE)  # the umask may have taken some of it
        finally:
            os.close(descriptor)


def is_readable_by_others(path: str) -> bool:
    """Whether anybody but the owner may read the file, or one beside it."""
    return any(_mode(f"{path}{end}") & READABLE_BY_OTHERS for end in ("", *SIDE_FILES))


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return 0
