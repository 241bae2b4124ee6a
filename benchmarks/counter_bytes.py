"""Print how many bytes a hit adds to SQLite's WAL of the counters.

    python -m benchmarks.counter_bytes

The first number is of hits that begin a window, the second of those that follow.
"""

import tempfile
from pathlib import Path

from petstore import clock
from petstore.models.callers import Caller
from petstore.quotas.limiter import Limiter
from petstore.settings import read_settings
from petstore.storage import counters
from petstore.storage.database import open_databases
from petstore.storage.migrator import migrate

PROJECTS = 5_000


def main() -> None:
    """Count a request of each project twice."""
    with tempfile.TemporaryDirectory() as directory:
        settings = read_settings({"DATABASE_URL": f"sqlite:///{directory}/pets.db"})
        open_databases(settings)
        list(migrate())
        counters.execute_sql("PRAGMA wal_autocheckpoint = 0")
        limiter, wal = Limiter(settings), Path(f"{directory}/pets.db.counters-wal")
        now_ms = clock.now_ms()
        clock.now_ms = lambda: now_ms
        facts = dict.fromkeys(Caller._fields) | {"key_id": 1, "plan": "business"}
        for _ in range(2):
            before = wal.stat().st_size if wal.exists() else 0
            for number in range(PROJECTS):
                limiter.count(Caller(**facts | {"project_id": number}), None)
            print(round((wal.stat().st_size - before) / PROJECTS))


if __name__ == "__main__":
    main()
