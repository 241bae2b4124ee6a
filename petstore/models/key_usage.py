"""What keys are used for: how many requests each sends, and when it was last used.

Requests note it, and the notes are written in the background. What is not written yet
is lost if the process is killed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import peewee
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
from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.storage import BaseModel, Sweep, db, slot, statement
from petstore.waiting import Delayed

SHOWN_DAYS = 30
# The time of last use of a key is written once in this time at most.
STEP_MS = 10 * clock.MS_PER_MINUTE
WRITTEN_AT_ONCE = 100
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
    sums = [
        Cast(fn.SUM(each), "bigint") for each in (KeyUsage.served, KeyUsage.refused)
    ]
    rows = KeyUsage.select(KeyUsage.day, *sums).join(Key)
    is_shown = (Key.project == project_id) & (KeyUsage.day > today - days)
    figures: Any = rows.where(is_shown).group_by(KeyUsage.day).tuples()
    by_day = {day: Day(day, served, refused) for day, served, refused in figures}
    shown = range(today - days + 1, today + 1)
    return [by_day.get(day) or Day(day, 0, 0) for day in shown]


@dataclass(slots=True)
class Note:
    """What a key was used for on a day, as far as it is not written yet."""

    written_ms: int  # the last use, as the table had it
    used_ms: int = 0
    served: int = 0
    refused: int = 0


class KeyNotes:
    """Collects the notes of a process and writes them together."""

    def __init__(self) -> None:
        self._notes: dict[tuple[int, int], Note] = {}  # by key and day
        self._flushing = Delayed(self.flush)

    def add(self, caller: Caller, now_ms: int, *, is_served: bool) -> None:
        """Note a request that was counted, at the time of the counter store."""
        place = caller.key_id, now_ms // clock.MS_PER_DAY
        note = self._notes.get(place) or self._begin(place, caller.last_used_ms or 0)
        note.used_ms = now_ms
        if is_served:
            note.served += 1
        else:
            note.refused += 1

    def flush(self) -> None:
        """Write all notes; those that cannot be written are kept."""
        notes, self._notes = self._notes, {}
        try:
            while notes:
                some = dict(islice(notes.items(), WRITTEN_AT_ONCE))
                _write(some)
                for place in some:
                    del notes[place]
        except peewee.DatabaseError:
            self._take_back(notes)

    def _begin(self, place: tuple[int, int], written_ms: int) -> Note:
        note = self._notes[place] = Note(written_ms)
        self._flushing.start(timeouts.LIMITS.usage_seconds)
        return note

    def _take_back(self, notes: dict[tuple[int, int], Note]) -> None:
        for place, note in notes.items():
            later = self._notes.get(place) or self._begin(place, note.written_ms)
            later.used_ms = max(later.used_ms, note.used_ms)
            later.served += note.served
            later.refused += note.refused


def _write(notes: dict[tuple[int, int], Note]) -> None:
    # All processes write in the same order, so that none waits for one that waits.
    rows = sorted(notes.items())
    used = [
        {"key": key_id, "used_ms": note.used_ms}
        for (key_id, _), note in rows
        if note.used_ms - note.written_ms >= STEP_MS
    ]
    with db.atomic():
        _mark_used.run_many(used)
        _add_counts.run_many(
            {"key": key_id, "day": day, "served": note.served, "refused": note.refused}
            for (key_id, day), note in rows
        )
    today = clock.now_ms() // clock.MS_PER_DAY
    while _sweep(first_day=today - SHOWN_DAYS + 1):
        pass


@statement(db)
def _mark_used() -> Query:
    return Key.update(last_used_ms=slot("used_ms")).where(Key.id == slot("key"))


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


_sweep = Sweep(KeyUsage, KeyUsage.day, lambda: KeyUsage.day < slot("first_day"))

key_notes = KeyNotes()
