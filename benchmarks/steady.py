"""gunicorn.conf.py without what a worker does from time to time.

On a slow machine, and under valgrind on any, a request would take more of it.
"""

from dataclasses import replace
from pathlib import Path

from petstore import timeouts
from tests.harness.patience import PATIENT

SECONDS = 3600.0

timeouts.LIMITS = replace(
    PATIENT,
    tick_seconds=SECONDS,
    linger_seconds=SECONDS,
    request_seconds=SECONDS,
    send_seconds=SECONDS,
    failed_seconds=SECONDS,
    usage_seconds=SECONDS,
    tidy_seconds=SECONDS,
)

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))

timeout = 0  # the master does not wait for a sign of life
