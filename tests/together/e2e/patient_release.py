"""gunicorn.conf.py of release 1.2.0, with time limits for a busy machine."""

from dataclasses import replace
from pathlib import Path

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))

from petstore import timeouts  # noqa: E402

SECONDS = 20.0
NAMES = """
    turn request redis hit lock server_statement idle_transaction statement connect
    queue busy
"""

timeouts.LIMITS = replace(
    timeouts.LIMITS,
    stores_seconds=3 * SECONDS,
    **{f"{name}_seconds": SECONDS for name in NAMES.split()},
)
