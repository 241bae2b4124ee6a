"""How the workers of a host share new connections.

A connection stays with the worker that accepted it, and the first worker to wake up
could accept a whole burst. Each worker therefore publishes how many connections it has,
in shared memory. The memory is allocated when this module is imported; gunicorn.conf.py
imports it in the master, before any worker is forked.
"""

import mmap

SLOTS = 256  # workers whose ages (gunicorn's numbers) differ by 256 share one

# 0 if there is no worker, else the number of the worker's connections plus 1.
_counts = memoryview(mmap.mmap(-1, SLOTS * 4)).cast("I")


def publish(age: int, connections: int) -> None:
    """Publish how many connections the worker with that age has."""
    _counts[age % SLOTS] = connections + 1


def clear(age: int) -> None:
    """Record that the worker with that age accepts no more connections."""
    _counts[age % SLOTS] = 0


def others_have_fewer(connections: int) -> bool:
    """Return whether another worker has fewer connections than that."""
    published = filter(None, _counts.tolist())
    return min(published, default=connections + 1) <= connections
