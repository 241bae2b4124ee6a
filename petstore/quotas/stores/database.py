"""Counters in the database: one row for a subject and a day, one statement a hit."""

import peewee
from peewee import EXCLUDED, Case, Expression, Query, Select, fn

from petstore import clock
from petstore.clock import MS_PER_DAY, MS_PER_MINUTE
from petstore.database import counters
from petstore.models.usage import Usage
from petstore.quotas.stores.storage import CounterStorage
from petstore.quotas.stores.strikes import strikes_of
from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally
from petstore.statements import slot, statement

SWEPT_AT_ONCE = 10


class DatabaseStorage(CounterStorage):
    """Exact over all processes: the database lets one hit of a subject at a time in."""

    def is_outage(self, error: Exception) -> bool:
        """What the engine says of the error."""
        return isinstance(error, peewee.PeeweeException) and counters.is_outage(error)

    def close(self) -> None:
        """Nothing to do: the connections are the database's."""

    def take(self, claim: Claim) -> Tally:
        """Count a request in both windows or in neither; see `CounterStorage`."""
        tally = _tally(claim)
        if tally.is_granted and tally.day_served == 1:
            _sweep(today=tally.now_ms // MS_PER_DAY)
        elif not tally.is_granted and claim.key_id is not None:
            return tally._replace(strikes=strikes_of(claim, tally))
        return tally

    def look(self, claim: Claim) -> Tally:
        """The figures without counting; see `CounterStorage`."""
        [(now, minute, minute_served, served)] = _look(
            subject=claim.subject.name, now_ms=clock.now_ms()
        )
        ahead = (minute or 0) - now // MS_PER_MINUTE
        if ahead == 1:
            now = minute * MS_PER_MINUTE
        is_present = ahead in (0, 1)
        return Tally(False, minute_served if is_present else 0, served or 0, now)

    def history(self, subject: Subject, days: range) -> list[Day]:
        """What is still known of the days; see `CounterStorage`."""
        return [Day(*row) for row in Usage.of_days(subject.name, days)]


def _tally(claim: Claim) -> Tally:
    try:
        with counters.turn(claim.subject.name):
            [row] = _take(
                subject=claim.subject.name,
                kept_days=claim.subject.kept_days,
                per_minute=claim.quota.minute.amount,
                per_day=claim.quota.day.amount,
                banned_until=claim.banned_until_ms,
                now_ms=clock.now_ms(),
            )
    except peewee.DatabaseError:
        counters.recover()
        raise
    return Tally(*row)


@statement(counters, is_timely=True)
def _take() -> Query:
    now = counters.now_ms
    minute, day = now / MS_PER_MINUTE, now / MS_PER_DAY
    # A hit that waited for the row may find its minute over, and so may one after the
    # clock was set back: it counts in the next, so that no minute comes twice.
    is_late = Usage.minute == EXCLUDED.minute + 1
    minute_served = Case(
        None, [(is_late | (Usage.minute == EXCLUDED.minute), Usage.minute_served)], 0
    )
    is_free = now >= slot("banned_until")
    is_granted = (
        is_free
        & (minute_served < slot("per_minute"))
        & (Usage.served < slot("per_day"))
    )
    first = {
        Usage.subject: slot("subject"),
        Usage.day: day,
        Usage.served: _one_if(is_free),
        Usage.refused: _one_if(~is_free),
        Usage.minute: minute,
        Usage.minute_served: _one_if(is_free),
        Usage.hit_ms: now,
        Usage.is_granted: is_free,
        Usage.last_day: day + slot("kept_days"),
    }
    return (
        Usage.insert_from(
            Select(columns=list(first.values())).where(counters.in_time), list(first)
        )
        .on_conflict(
            conflict_target=[Usage.subject, Usage.day],
            update={
                Usage.served: Usage.served + _one_if(is_granted),
                Usage.refused: Usage.refused + _one_if(~is_granted),
                Usage.minute: Case(None, [(is_late, Usage.minute)], EXCLUDED.minute),
                Usage.minute_served: minute_served + _one_if(is_granted),
                Usage.hit_ms: Case(None, [(is_late, Usage.hit_ms)], EXCLUDED.hit_ms),
                Usage.is_granted: is_granted,
            },
        )
        .returning(Usage.is_granted, Usage.minute_served, Usage.served, Usage.hit_ms)
    )


@statement(counters)
def _look() -> Query:
    # An aggregate answers with one row, whether the subject is known or not.
    latest = (Usage.minute, Usage.minute_served, Usage.served)
    return Usage.select(counters.now_ms, *(fn.MAX(column) for column in latest)).where(
        Usage.subject == slot("subject"), Usage.day == counters.now_ms / MS_PER_DAY
    )


def _one_if(condition: Expression) -> Case:
    return Case(None, [(condition, 1)], 0)


def _sweep(today: int) -> None:
    """Drop a few rows that are of no use any more.

    Each new row pays for more than one old one, so the table does not grow.
    """
    old = (
        Usage.select(Usage.subject, Usage.day)
        .where(Usage.last_day < today)
        .order_by(Usage.last_day)
        .limit(SWEPT_AT_ONCE)
    )
    # All are read before one is written: SQLite gives a statement that still reads
    # no turn to write once another process has written.
    for subject, day in list(old.tuples()):
        Usage.delete().where(Usage.subject == subject, Usage.day == day).execute()
