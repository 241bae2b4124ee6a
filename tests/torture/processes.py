"""Helpers for processes that may end at any moment."""

from contextlib import suppress

import psutil


def is_alive(process: psutil.Process) -> bool:
    """Return whether the process is running."""
    # An orphan that has ended stays a zombie where no init process reaps it.
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def children_of(process: psutil.Process) -> list[psutil.Process]:
    """Return the child processes, or none if the process is gone."""
    with suppress(psutil.NoSuchProcess):
        return process.children()
    return []
