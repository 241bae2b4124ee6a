"""gunicorn.conf.py of release 1.0.0, with time limits for a busy machine."""

from pathlib import Path

exec(Path("gunicorn.conf.py").read_text(encoding="utf-8"))

from petstore.engines import (  # noqa: E402
    connection,
    group_commit,
    lines,
    postgresql,
    sqlite,
)

from petstore.api import idempotency  # noqa: E402
from petstore.quotas.stores import redis_clients  # noqa: E402

SECONDS = 20.0
IN_MS = int(SECONDS * 1000)

connection.STATEMENT_SECONDS = postgresql.STATEMENT_SECONDS = SECONDS
postgresql.LIMITS |= dict.fromkeys(postgresql.LIMITS, IN_MS)
postgresql.ABANDONED |= dict.fromkeys(postgresql.ABANDONED, IN_MS)
postgresql.Postgresql.begin.__defaults__ = (IN_MS,)
postgresql.Postgresql.writing.__wrapped__.__kwdefaults__["lock_ms"] = IN_MS
idempotency.FIRST_MS = IN_MS
lines.LOOK_SECONDS = SECONDS / lines.LOOKS
group_commit.BUSY_SECONDS = sqlite.HIT_BUSY_SECONDS = SECONDS
sqlite.SqliteCounters.busy_seconds = SECONDS
redis_clients.HIT_SECONDS = redis_clients.SERVER_SECONDS = SECONDS
