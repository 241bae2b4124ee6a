"""gunicorn.conf.py with counter stores that have time to answer.

A busy machine must not pass for an outage of a store where a count is to be exact.
"""

from pathlib import Path

from petstore.engines import sqlite
from petstore.quotas.stores import redis_clients

SECONDS = 20.0

assert redis_clients.HIT_SECONDS < SECONDS > sqlite.HIT_BUSY_SECONDS
redis_clients.HIT_SECONDS = sqlite.HIT_BUSY_SECONDS = SECONDS
sqlite.SqliteCounters.busy_seconds = SECONDS

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))
