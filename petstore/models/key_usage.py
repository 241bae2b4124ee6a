"""What keys are used for: how many requests each sends, and when it was last used.

Requests note it. What is not written yet is lost if the process is killed.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from peewee import (
    EXCLUDED,
    BigIntegerField,
    Case,
    Cast,
    CompositeKey,
    ForeignKeyField,
    Query,
    chunked,
    fn,
)

from petstore import clock, timeouts
from petstore.models.keys import Key
from petstore.models.notes import Notes
from petstore.storage import BaseModel, db, slot, statement

SHOWN_DAYS = 30
# The time of last use of a key is written once in this time at most.
STEP_MS = 10 * clock.MS_PER_MINUTE
KEYS_AT_ONCE = 500


class KeyUsage(BaseModel):
    """The requests that a key has sent on one UTC day."""

    key = ForeignKeyField(Key, index=False, on_delete="CASCADE")
    day = BigIntegerField(index=True)  # since 1970-01-01
    served = BigIntegerField()
    refused = BigIntegerField()

    class Meta:
        primary_key = CompositeKey("key", "day")


class Totals(NamedTuple):
    """The requests of a key that were served and refused, today and in 30 days."""

    served_today: int = 0
    refused_today: int = 0
    served: int = 0
    refused: int = 0


def totals_of(keys: Iterable[Key]) -> dict[int, Totals]:
    """Return the totals of keys, by their ids."""
    today = clock.now_ms() // clock.MS_PER_DAY
    counts = (KeyUsage.served, KeyUsage.refused)
    of_today = [Case(None, [(KeyUsage.day == today, each)], 0) for each in counts]
    sums = [Cast(fn.SUM(each), "bigint") for each in (*of_today, *counts)]
    found = {key.id: Totals() for key in keys}
    for some in chunked(list(found), KEYS_AT_ONCE):
        is_shown = KeyUsage.key.in_(some) & (KeyUsage.day > today - SHOWN_DAYS)
        rows = KeyUsage.select(KeyUsage.key, *sums).where(is_shown)
        figures: Any = rows.group_by(KeyUsage.key).tuples()
        found |= {key_id: Totals(*counts) for key_id, *counts in figures}
    return found


class Day(NamedTuple):
    """The requests of a project on one UTC day, counted from 1970-01-01."""

    day: int
    served: int
    refused: int


def history(project_id: int, days: int) -> list[Day]:
    """Return the requests of a project on each of the last days, today included."""
    today = clock.now_ms() // clock.MS_PER_DAY
    counts = (KeyUsage.served, KeyUsage.refused)
    sums = [Cast(fn.SUM(each), "bigint") for each in counts]
    served: Counter[int] = Counter()  # by day
    refused: Counter[int] = Counter()
    # By their ids, or a database may read the days of all projects.
    for some in chunked(Key.kept_ids(project_id), KEYS_AT_ONCE):
        is_shown = KeyUsage.key.in_(some) & (KeyUsage.day > today - days)
        rows = KeyUsage.select(KeyUsage.day, *sums).where(is_shown)
        figures: Any = rows.group_by(KeyUsage.day).tuples()
        for day, was_served, was_refused in figures:
            served[day] += was_served
            refused[day] += was_refused
    shown = range(today - days + 1, today + 1)
    return [Day(day, served[day], refused[day]) for day in shown]


class Use(NamedTuple):
    """A request with a key that was counted."""

    key_id: int
    at_ms: int  # by the clock of the counter store
    is_served: bool


def _write(uses: list[Use]) -> None:
    served: Counter[tuple[int, int]] = Counter()  # by key and day
    refused: Counter[tuple[int, int]] = Counter()
    used: dict[int, int] = {}
    for key_id, at_ms, is_served in uses:
        counts = served if is_served else refused
        counts[key_id, at_ms // clock.MS_PER_DAY] += 1
        used[key_id] = at_ms
    # All processes write in the same order, so that none waits for one that waits.
    _mark_used.run_many(
        {"key": key_id, "used_ms": at_ms} for key_id, at_ms in sorted(used.items())
    )
    _add_counts.run_many(
        {"key": key_id, "day": day, "served": served[place], "refused": refused[place]}
        for place in sorted(served.keys() | refused.keys())
        for key_id, day in [place]
    )


@statement(db)
def _mark_used() -> Query:
    is_due = Key.last_used_ms.is_null() | (
        Key.last_used_ms + STEP_MS <= slot("used_ms")
    )
    marked = Key.update(last_used_ms=slot("used_ms"))
    return marked.where(Key.id == slot("key"), is_due)


@statement(db)
def _add_counts() -> Query:
    # From the key's row, since the key may have been deleted meanwhile.
    counts = [slot(name) for name in ("day", "served", "refused")]
    new = Key.select(Key.id, *counts).where(Key.id == slot("key"))
    fields = [KeyUsage.key, KeyUsage.day, KeyUsage.served, KeyUsage.refused]
    return KeyUsage.insert_from(new, fields).on_conflict(
        conflict_target=(KeyUsage.key, KeyUsage.day),
        update={
            KeyUsage.served: KeyUsage.served + EXCLUDED.served,
            KeyUsage.refused: KeyUsage.refused + EXCLUDED.refused,
        },
    )


uses = Notes(_write, lambda: timeouts.LIMITS.usage_seconds)
