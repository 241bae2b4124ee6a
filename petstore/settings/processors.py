"""How many processors the service may use."""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")  # a line for each: number, controllers, path
# By version 2, where one file has both numbers, and by version 1.
QUOTAS = {"": ("", "cpu.max"), "cpu": ("cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us")}


def usable_processors() -> int:
    """Return the number of processors, or of those that a control group allows."""
    if not hasattr(os, "sched_getaffinity"):  # Linux only
        return os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0))
    with suppress(OSError):  # there is no /proc
        usable = min(usable, *map(math.ceil, _quotas()), usable)
    return usable


def _quotas() -> Iterator[float]:
    """Yield how many processors each control group of this process may use."""
    for line in OWN_GROUPS.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in QUOTAS.keys() & set(controllers.split(",")):
            place, *names = QUOTAS[controller]
            own = Path(path)
            for group in (own, *own.parents):
                directory = CONTROL_GROUPS / place / group.relative_to("/")
                # Groups outside a container are not to be seen; `max` is no limit.
                with suppress(OSError, ValueError):
                    texts = [(directory / name).read_text() for name in names]
                    quota, period = map(int, " ".join(texts).split())
                    if quota > 0:
                        yield quota / period
