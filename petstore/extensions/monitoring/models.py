"""Records of past requests: those that failed, and what each key did on each day."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import peewee
from peewee import EXCLUDED, Case, Cast, Expression, Query, chunked, fn

from petstore import clock, timeouts
from petstore.models import OfProject, Retention, WriteQueue, retentions
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.storage import BaseModel, compiled, db, placeholder

FAILURES_KEPT = 200  # of a project
FAILURES_KEPT_MS = clock.MS_PER_DAY
SHOWN_DAYS = 30
KEYS_AT_ONCE = 500


class FailedRequest(OfProject, BaseModel):
    """A request that has failed."""

    id = peewee.BigAutoField()
    # An earlier version, which does not know this table, deletes projects too.
    project = peewee.ForeignKeyField(Project, index=False, on_delete="CASCADE")
    at_ms = peewee.BigIntegerField()
    # Its id in the interface description, or method and path.
    operation = peewee.TextField()
    status = peewee.BigIntegerField()
    code = peewee.TextField()
    message = peewee.TextField()
    key_prefix = peewee.TextField()
    request_id = peewee.TextField()

    class Meta:
        hidden = {"project"}
        indexes = ((("project", "id"), False),)

    @classmethod
    def newest(cls, project_id: int) -> list[Self]:
        """Return the project's failures of the last 24 hours, newest first."""
        found = cls.select().where(cls.project == project_id, cls.is_kept())
        return list(found.order_by(cls.id.desc()).limit(FAILURES_KEPT))

    @classmethod
    def is_kept(cls) -> Expression:
        return cls.at_ms >= clock.now_ms() - FAILURES_KEPT_MS


retentions += [
    Retention(
        FailedRequest, FailedRequest.at_ms, FAILURES_KEPT_MS, along=FailedRequest.id
    )
]


def _write_failures(failures: list[dict[str, Any]]) -> None:
    """Write failures, a few of each project and second, and delete surplus ones."""
    of_second: Counter[tuple[int, int]] = Counter()
    for failure in failures:
        second = failure["project"], failure["at_ms"] // clock.MS_PER_SECOND
        of_second[second] += 1
        if of_second[second] <= timeouts.LIMITS.failed_per_second:
            _insert_failure(**failure)
    for project in sorted({failure["project"] for failure in failures}):
        FailedRequest.delete_surplus(
            FAILURES_KEPT, timeouts.LIMITS.notes, project=project
        )


@compiled(db)
def _insert_failure() -> Query:
    # From the project's row, since it may be deleted meanwhile.
    project, columns = FailedRequest.project, FailedRequest.columns()[1:]
    new = Project.select(Project.id, *map(placeholder, columns))
    new = new.where(Project.id == placeholder("project"), Project.deleted_ms.is_null())
    return FailedRequest.insert_from(new, [project, *columns])


failures = WriteQueue(_write_failures, lambda: timeouts.LIMITS.failed_seconds)


class KeyUsage(BaseModel):
    """How many requests of a key were served and refused on a UTC day."""

    key = peewee.ForeignKeyField(Key, index=False, on_delete="CASCADE")
    day = peewee.BigIntegerField(index=True)  # since 1970-01-01
    served = peewee.BigIntegerField()
    refused = peewee.BigIntegerField()

    class Meta:
        primary_key = peewee.CompositeKey("key", "day")


retentions += [Retention(KeyUsage, KeyUsage.day, SHOWN_DAYS - 1, clock.MS_PER_DAY)]


class Totals(NamedTuple):
    """The requests of a key that were served and refused, today and in 30 days."""

    served_today: int = 0
    refused_today: int = 0
    served: int = 0
    refused: int = 0


def totals_of(keys: Iterable[Key]) -> dict[int, Totals]:
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
    today = clock.now_ms() // clock.MS_PER_DAY
    counts = (KeyUsage.served, KeyUsage.refused)
    sums = [Cast(fn.SUM(each), "bigint") for each in counts]
    now = clock.now_ms()
    kept = (*Key.working(project_id, now), *Key.ended(project_id, now))
    # Without the ids of its keys, a database may read the days of all projects.
    is_of_project = KeyUsage.key.in_([key.id for key in kept])
    rows = KeyUsage.select(KeyUsage.day, *sums).where(is_of_project)
    days_used: Any = rows.where(KeyUsage.day > today - days).group_by(KeyUsage.day)
    found = {day: figures for day, *figures in days_used.tuples()}
    shown = range(today - days + 1, today + 1)
    return [Day(day, *found.get(day, (0, 0))) for day in shown]


class KeyUse(NamedTuple):
    key_id: int
    at_ms: int  # by the clock of the counter store
    is_served: bool


def _write_uses(uses: list[KeyUse]) -> None:
    served: Counter[tuple[int, int]] = Counter()  # by key and day
    refused: Counter[tuple[int, int]] = Counter()
    for key_id, at_ms, is_served in uses:
        counts = served if is_served else refused
        counts[key_id, at_ms // clock.MS_PER_DAY] += 1
    # All processes write in the same order, which prevents a deadlock.
    for place in sorted(served.keys() | refused.keys()):
        key_id, day = place
        figures = {"served": served[place], "refused": refused[place]}
        _add_counts(key=key_id, day=day, **figures)


@compiled(db)
def _add_counts() -> Query:
    # From the key's row, since the key may have been deleted meanwhile.
    counts = [placeholder(name) for name in ("day", "served", "refused")]
    new = Key.select(Key.id, *counts).where(Key.id == placeholder("key"))
    fields = [KeyUsage.key, KeyUsage.day, KeyUsage.served, KeyUsage.refused]
    return KeyUsage.insert_from(new, fields).on_conflict(
        conflict_target=(KeyUsage.key, KeyUsage.day),
        update={
            KeyUsage.served: KeyUsage.served + EXCLUDED.served,
            KeyUsage.refused: KeyUsage.refused + EXCLUDED.refused,
        },
    )


uses = WriteQueue(_write_uses, lambda: timeouts.LIMITS.usage_seconds)
