"""The directories that masters make for metrics, and leave behind when they are killed.

Each master holds a lock on its own, which ends with the last process that has it: the
master, or a worker that outlives it. A process id would say less, since containers that
share memory do not share process ids. One without a lock is of a master that was killed
while it started, or of an older version; it is left over after an hour without changes.
"""

import fcntl
import os
import re
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from petstore import clock

NAME = re.compile(r"petstore-metrics-\d+-\w{8}")  # as in gunicorn.conf.py
LOCK = "lock"
KEEP_UNLOCKED_MS = 60 * clock.MS_PER_MINUTE


def lock(directory: Path) -> None:
    """Lock a directory until this process and its children have ended."""
    new = directory / "new"
    descriptor = os.open(new, os.O_CREAT | os.O_WRONLY, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    new.rename(directory / LOCK)  # nobody sees it before it is locked


def delete(parent: Path) -> None:
    """Delete the directories of masters that have ended."""
    for directory in parent.glob("petstore-metrics-*"):
        with suppress(OSError):
            if NAME.fullmatch(directory.name) and _is_left(directory):
                shutil.rmtree(directory, ignore_errors=True)


def _is_left(directory: Path) -> bool:
    """Return whether we have made it and nobody uses it; raises OSError if unsure."""
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return False
    try:
        descriptor = os.open(directory / LOCK, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        changed_ms = status.st_mtime * clock.MS_PER_SECOND
        return changed_ms < clock.now_ms() - KEEP_UNLOCKED_MS
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(descriptor)
    return True
