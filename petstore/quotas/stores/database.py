"""Counters in the database: a row for each subject and day, one statement a hit."""

import peewee
from peewee import (
    EXCLUDED,
    BigIntegerField,
    BooleanField,
    Case,
    CompositeKey,
    Expression,
    Query,
    Select,
    TextField,
    fn,
)

from petstore import clock
from petstore.clock import MS_PER_DAY, MS_PER_MINUTE
from petstore.database import CounterModel, counters
from petstore.quotas.stores.storage import STRIKE_PAUSE_MS, CounterStorage
from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally
from petstore.statements import slot, statement

SWEPT_AT_ONCE = 10


class Usage(CounterModel):
    """The usage of one subject on one UTC day, and in the latest minute of it."""

    subject = TextField()
    day = BigIntegerField()  # days since 1970-01-01
    served = BigIntegerField()
    refused = BigIntegerField()
    minute = BigIntegerField()  # minutes since 1970-01-01 00:00
    minute_served = BigIntegerField()
    hit_ms = BigIntegerField()
    is_granted = BooleanField()  # whether the latest hit was served
    last_day = BigIntegerField(index=True)  # the row may be deleted after it

    class Meta:
        primary_key = CompositeKey("subject", "day")


class Strike(CounterModel):
    """The refusals of a key that count towards its ban, in one minute."""

    key_id = BigIntegerField(primary_key=True)
    minute = BigIntegerField()
    strikes = BigIntegerField()
    refused_ms = BigIntegerField()
    counts = BooleanField()  # whether the latest refusal is among the strikes


class DatabaseStorage(CounterStorage):
    """Counts exactly over all processes: the database serializes a subject's hits."""

    def is_outage(self, error: Exception) -> bool:
        """Return whether the database is away; see `CounterStorage`."""
        return isinstance(error, peewee.PeeweeException) and counters.is_outage(error)

    def is_locked(self, error: Exception) -> bool:
        """Return whether others keep a counter locked; see `CounterStorage`."""
        return isinstance(error, peewee.PeeweeException) and counters.is_locked(error)

    def close(self) -> None:
        """Do nothing: the connections belong to the database."""

    def take(self, claim: Claim) -> Tally:
        """Count a request in all windows or in none; see `CounterStorage`."""
        tally = _tally(claim)
        if tally.is_granted and tally.served[-1] == 1:
            _sweep(today=tally.now_ms // MS_PER_DAY)
        elif not tally.is_granted and claim.key_id is not None:
            return tally._replace(strikes=_strikes(claim, tally))
        return tally

    def peek(self, claim: Claim) -> Tally:
        """Return the figures without counting; see `CounterStorage`."""
        [(now, minute, minute_served, served)] = _select_latest(
            subject=claim.subject.name, now_ms=clock.now_ms()
        )
        ahead = (minute or 0) - now // MS_PER_MINUTE
        if ahead == 1:  # as in `_upsert`
            now = minute * MS_PER_MINUTE
        is_current = ahead in (0, 1)
        return Tally(False, (minute_served if is_current else 0, served or 0), now)

    def history(self, subject: Subject, days: range) -> list[Day]:
        """Return what is known of the days; see `CounterStorage`."""
        rows = Usage.select().where(
            Usage.subject == subject.name,
            Usage.day.between(days[0], days[-1]),
        )
        return [Day(row.day, row.served, row.refused) for row in rows]


def _tally(claim: Claim) -> Tally:
    try:
        with counters.write_permit(claim.subject.name):
            [(is_granted, minute_served, served, now)] = _upsert(
                subject=claim.subject.name,
                kept_days=claim.subject.kept_days,
                per_minute=claim.quota.minute.amount,
                per_day=claim.quota.day.amount,
                banned_until=claim.banned_until_ms,
                now_ms=clock.now_ms(),
            )
    except peewee.DatabaseError as error:
        counters.recover(error)
        raise
    return Tally(is_granted, (minute_served, served), now)


@statement(counters, has_deadline=True)
def _upsert() -> Query:
    now = counters.now_ms
    minute, day = now / MS_PER_MINUTE, now / MS_PER_DAY
    # The row may already be in the next minute, if the hit has waited for the row or
    # the clock was set back. The hit then counts in that minute, so that no minute is
    # counted twice.
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
    first_row = {
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
    row = Select(columns=list(first_row.values())).where(counters.is_before_deadline)
    return (
        Usage.insert_from(row, list(first_row))
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


def _one_if(condition: Expression) -> Case:
    return Case(None, [(condition, 1)], 0)


def _sweep(today: int) -> None:
    """Delete a few rows that are no longer needed.

    This runs once for each new row and deletes up to SWEPT_AT_ONCE old ones, so the
    table does not keep growing.
    """
    old = (
        Usage.select(Usage.subject, Usage.day)
        .where(Usage.last_day < today)
        .order_by(Usage.last_day)
        .limit(SWEPT_AT_ONCE)
    )
    # Read all rows before the first is deleted: while a statement is reading, SQLite
    # refuses to write if another process has written in the meantime.
    for row in list(old):
        delete = Usage.delete().where(
            Usage.subject == row.subject, Usage.day == row.day
        )
        delete.execute()


def _strikes(claim: Claim, tally: Tally) -> int:
    """Return how many refusals count towards a ban; 0 if this one does not."""
    rows = _upsert_strike(
        key=claim.key_id,
        minute=tally.now_ms // MS_PER_MINUTE,
        now_ms=tally.now_ms,
        banned_until=claim.banned_until_ms,
    )
    return next((strikes for strikes, counts in rows if counts), 0)


@statement(counters)
def _upsert_strike() -> Query:
    now = EXCLUDED.refused_ms
    counts = (now >= slot("banned_until")) & (
        now - Strike.refused_ms >= STRIKE_PAUSE_MS
    )
    same_minute = Strike.minute == EXCLUDED.minute
    return (
        Strike.insert(
            key_id=slot("key"),
            minute=slot("minute"),
            strikes=0,
            refused_ms=slot("now_ms"),
            counts=False,
        )
        .on_conflict(
            conflict_target=[Strike.key_id],
            update={
                Strike.minute: EXCLUDED.minute,
                Strike.strikes: Case(None, [(same_minute, Strike.strikes)], 0)
                + _one_if(counts),
                Strike.refused_ms: now,
                Strike.counts: counts,
            },
            # A refusal that arrives after a later one does not count.
            where=now >= Strike.refused_ms,
        )
        .returning(Strike.strikes, Strike.counts)
    )


@statement(counters)
def _select_latest() -> Query:
    # An aggregate returns one row even for an unknown subject.
    latest = (Usage.minute, Usage.minute_served, Usage.served)
    return Usage.select(counters.now_ms, *(fn.MAX(column) for column in latest)).where(
        Usage.subject == slot("subject"), Usage.day == counters.now_ms / MS_PER_DAY
    )
