"""Make the disk beneath SQLite files of this process fail."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DESCRIPTORS = Path("/proc/self/fd")


@contextmanager
def unreadable(path: Path) -> Iterator[None]:
    """Let SQLite read nothing more from a file and its log, as far as they are open.

    It gets an error of the system, on which it rolls back the transaction by itself.
    Nothing else of the process may use the file, since this ends its locks.
    """
    kept = {number: os.dup(number) for number in _descriptors(path)}
    write_only = os.open(os.devnull, os.O_WRONLY)
    try:
        for number in kept:
            os.dup2(write_only, number)
        yield
    finally:
        os.close(write_only)
        for number, copy in kept.items():
            os.dup2(copy, number)
            os.close(copy)


def _descriptors(path: Path) -> list[int]:
    found = []
    for link in DESCRIPTORS.iterdir():
        with suppress(OSError):  # the directory that is read here is listed as well
            if link.readlink() in (path, path.with_name(f"{path.name}-wal")):
                found.append(int(link.name))
    return found
