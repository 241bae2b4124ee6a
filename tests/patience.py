"""Time limits of the service that are long enough for a busy machine.

Tests of exact counts need them: a slow store must not be taken for an unavailable one.
"""

from petstore.engines import connection, group_commit, postgresql, queues, sqlite
from petstore.quotas.stores import redis_clients, redis_scripts

SECONDS = 20.0
MS = int(SECONDS * 1000)
LIMITS = (
    (redis_scripts, "RUN_SECONDS", SECONDS),
    (redis_clients, "SERVER_SECONDS", SECONDS),
    (connection, "STATEMENT_SECONDS", SECONDS),
    (postgresql, "STATEMENT_SECONDS", SECONDS),
    (postgresql, "LIMITS", {"lock_timeout": MS, "statement_timeout": MS}),
    (postgresql, "IDLE_LIMITS", {"idle_in_transaction_session_timeout": MS}),
    (queues, "MAX_STALLED_CHECKS", int(SECONDS / queues.CHECK_SECONDS)),
    (group_commit, "BUSY_SECONDS", SECONDS),
    (sqlite, "HIT_TRIES", int(SECONDS / sqlite.RETRY_SECONDS)),
    (sqlite.SqliteCounters, "busy_seconds", SECONDS),
)


def be_patient() -> None:
    """Apply the limits to this process."""
    for place, name, value in LIMITS:
        assert hasattr(place, name)
        setattr(place, name, value)
