"""gunicorn.conf.py with long time limits, for a worker under valgrind.

It is fifty times slower, so short ones would end requests. What a worker does from time
to time it does not do while requests are counted.
"""

import os
from dataclasses import asdict, replace
from pathlib import Path

from petstore import timeouts

TIMES = 1000

timeouts.LIMITS = replace(
    timeouts.LIMITS,
    **{
        name: TIMES * limit
        for name, limit in asdict(timeouts.LIMITS).items()
        if name.endswith("_seconds")
    },
)

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))

timeout = 0  # the master does not wait for a sign of life


def post_worker_init(_worker):
    """Mark the steps of requests if somebody counts them."""
    if "MARKS" in os.environ:
        from benchmarks.steps import mark_steps

        mark_steps()
