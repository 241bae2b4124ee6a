"""Time limits of the service, longer than a busy machine takes for anything.

Where a count is to be exact, a store that is slow must not pass for one that is away.
"""

from petstore.engines import connection, group_commit, postgresql, sqlite
from petstore.quotas.stores import redis_clients

SECONDS = 20.0
LIMITS = (
    (redis_clients, "HIT_SECONDS"),
    (redis_clients, "SERVER_SECONDS"),
    (connection, "STATEMENT_SECONDS"),
    (postgresql, "STATEMENT_SECONDS"),
    (group_commit, "BUSY_SECONDS"),
    (sqlite, "HIT_BUSY_SECONDS"),
    (sqlite.SqliteCounters, "busy_seconds"),
)


def be_patient() -> None:
    """Have the service of this process wait."""
    for place, name in LIMITS:
        assert getattr(place, name) < SECONDS
        setattr(place, name, SECONDS)
