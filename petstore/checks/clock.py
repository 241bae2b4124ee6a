"""The clock of the database against the one of this machine."""

import peewee
from peewee import Select

from petstore import clock
from petstore.checks.findings import Finding
from petstore.database import data, is_sqlite
from petstore.settings import Settings

CHECK = "clock"
MAX_DIFFERENCE_MS = 2 * clock.MS_PER_SECOND


def check(_settings: Settings) -> Finding:
    """Windows of quotas and the ends of keys and bans must come at one time."""
    if is_sqlite(data.obj):
        return Finding.ok(CHECK, "SQLite goes by the clock of this machine")
    try:
        difference = _difference_ms()
    except peewee.DatabaseError:
        return Finding.warning(CHECK, "unknown while the database does not answer")
    apart = (
        f"the clocks of PostgreSQL and of this machine are {abs(difference)} ms apart"
    )
    if abs(difference) > MAX_DIFFERENCE_MS:
        return Finding.wrong(CHECK, f"{apart}; let NTP set both")
    return Finding.ok(CHECK, apart)


def _difference_ms() -> int:
    data.execute_sql("SELECT 1")  # connecting must not count
    before = clock.now_ms()
    [theirs] = data.execute(Select(columns=[data.now_ms])).fetchone()
    return theirs - (before + clock.now_ms()) // 2
