"""The files of SQLite: only their owner may read them.

They contain the signing secret.
"""

import os
import stat
from contextlib import suppress
from functools import partial

OWNER_ALONE = 0o600
READABLE_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH
# SQLite creates these beside a database file, with the same mode.
SIDE_FILES = ("-wal", "-shm", "-journal")


def make_private(path: str) -> None:
    """Create an empty file that only its owner may read, whatever the umask.

    A file that exists is not changed. If the file cannot be created, nothing is raised:
    SQLite will fail in the same way and report it.
    """
    create = partial(os.open, mode=OWNER_ALONE)
    with suppress(OSError), open(path, "xb", opener=create) as file:
        os.fchmod(file.fileno(), OWNER_ALONE)  # the umask may have removed bits


def is_readable_by_others(path: str) -> bool:
    """Return whether others than the owner may read the file or its side files."""
    return any(_mode(f"{path}{end}") & READABLE_BY_OTHERS for end in ("", *SIDE_FILES))


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return 0
