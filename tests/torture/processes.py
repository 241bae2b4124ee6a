"""Processes that may be gone at any moment."""

from contextlib import suppress

import psutil


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs."""
    # A successor that has ended stays a zombie where nobody adopts orphans.
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def children_of(process: psutil.Process) -> list[psutil.Process]:
    """The processes that it has started; none when it is gone."""
    with suppress(psutil.NoSuchProcess):
        return process.children()
    return []
