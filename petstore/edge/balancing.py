"""How the workers of a host share new connections.

A connection stays with the worker that accepted it, and the first worker to wake could
accept a whole burst. So each tells the others how many it has, in memory that is made
when this module is imported, which gunicorn.conf.py does before there are workers.
"""

import mmap

SLOTS = 64  # more workers than that share them

# 0 where there is no worker, else one more than its connections.
_counts = memoryview(mmap.mmap(-1, SLOTS * 4)).cast("I")


def publish(age: int, connections: int) -> None:
    """Tell the others how many connections the worker of that age has."""
    _counts[age % SLOTS] = connections + 1


def clear(age: int) -> None:
    """Note that the worker of that age takes no connections any more."""
    _counts[age % SLOTS] = 0


def others_have_fewer(connections: int) -> bool:
    """Whether another worker has fewer connections than that."""
    return any(0 < count <= connections for count in _counts.tolist())
