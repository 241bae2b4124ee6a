"""Counters in the database: a row for each subject and day, one statement a hit."""

from peewee import (
    EXCLUDED,
    SQL,
    BigIntegerField,
    BooleanField,
    Case,
    Cast,
    CompositeKey,
    Expression,
    Query,
    TextField,
    fn,
)

from petstore import clock
from petstore.clock import MS_PER_DAY, MS_PER_MINUTE
from petstore.quotas.decisions import Counts, Day, Hit
from petstore.quotas.stores import STRIKE_PAUSE_MS, CounterStorage
from petstore.quotas.subjects import Subject
from petstore.storage import Busy, CounterModel, Sweep, counters, slot, statement

_FOREVER = 2**63 - 1


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

    def count(self, hit: Hit) -> Counts:
        [row] = _upsert.autocommit(
            subject=hit.subject.name,
            kept_days=hit.subject.kept_days,
            per_minute=hit.quota.per_minute,
            per_day=hit.quota.per_day,
            # A new row, too, refuses what a ban refuses.
            banned_until=_FOREVER if hit.is_refused else hit.banned_until_ms,
            now_ms=clock.now_ms(),
        )
        counts = Counts(*row)
        if counts.is_granted and counts.day_served == 1:
            _sweep(today=counts.now_ms // MS_PER_DAY)
        elif not counts.is_granted and hit.key_id is not None:
            return counts._replace(strikes=_strikes(hit, counts))
        return counts

    def peek(self, subject: Subject) -> Counts:
        [(now, minute, minute_served, served)] = _select_latest(
            subject=subject.name, now_ms=clock.now_ms()
        )
        ahead = (minute or 0) - now // MS_PER_MINUTE
        if ahead == 1:  # as in `_upsert`
            now = minute * MS_PER_MINUTE
        is_current = ahead in (0, 1)
        return Counts(False, minute_served if is_current else 0, served or 0, now)

    def history(self, subject: Subject, days: range) -> list[Day]:
        rows = Usage.select().where(
            Usage.subject == subject.name,
            Usage.day.between(days[0], days[-1]),
        )
        return [Day(row.day, row.served, row.refused) for row in rows]

    def probe(self, subject: Subject) -> None:
        # A database that is locked or read-only still answers reads.
        _write_nothing()

    def is_away(self, error: Exception) -> bool:
        counters.recover(error)
        return counters.is_outage(error) and not isinstance(error, Busy)

    def close(self) -> None:
        pass  # the connections belong to the database


@statement(counters)
def _upsert() -> Query:
    now = counters.now_ms
    minute, day = now / MS_PER_MINUTE, now / MS_PER_DAY
    # A new row counts one request, which every quota allows.
    not_banned = now >= slot("banned_until")
    # The row may already be in the next minute, if the hit has waited for the row or
    # the clock was set back. The hit then counts in that minute, so that no minute is
    # counted twice.
    is_late = Usage.minute == EXCLUDED.minute + 1
    is_same = is_late | (Usage.minute == EXCLUDED.minute)
    minute_served = Case(None, [(is_same, Usage.minute_served)], 0)
    is_granted = (
        not_banned
        & (minute_served < slot("per_minute"))
        & (Usage.served < slot("per_day"))
    )
    new = Usage.insert(
        subject=counters.limiting_locks(slot("subject")),
        day=day,
        served=_one_if(not_banned),
        refused=1 - _one_if(not_banned),
        minute=minute,
        minute_served=_one_if(not_banned),
        hit_ms=now,
        is_granted=not_banned,
        last_day=day + slot("kept_days"),
    )
    return new.on_conflict(
        conflict_target=(Usage.subject, Usage.day),
        update={
            Usage.served: Usage.served + _one_if(is_granted),
            Usage.refused: Usage.refused + 1 - _one_if(is_granted),
            Usage.minute: Case(None, [(is_late, Usage.minute)], EXCLUDED.minute),
            Usage.minute_served: minute_served + _one_if(is_granted),
            Usage.hit_ms: Case(None, [(is_late, Usage.hit_ms)], EXCLUDED.hit_ms),
            Usage.is_granted: is_granted,
        },
    ).returning(Usage.is_granted, Usage.minute_served, Usage.served, Usage.hit_ms)


def _one_if(condition: Expression) -> Cast:
    return Cast(condition, "int")


_sweep = Sweep(Usage, Usage.last_day, lambda: Usage.last_day < slot("today"))


def _strikes(hit: Hit, counts: Counts) -> int:
    """Return how many refusals count towards a ban; 0 if this one does not."""
    rows = _upsert_strike.autocommit(
        key=hit.key_id,
        minute=counts.now_ms // MS_PER_MINUTE,
        now_ms=counts.now_ms,
        banned_until=hit.banned_until_ms,
    )
    return next((strikes for strikes, is_strike in rows if is_strike), 0)


@statement(counters)
def _upsert_strike() -> Query:
    now = slot("now_ms")
    is_strike = (now >= slot("banned_until")) & (
        now - Strike.refused_ms >= STRIKE_PAUSE_MS
    )
    is_same_minute = Strike.minute == EXCLUDED.minute
    new = Strike.insert(
        key_id=slot("key"),
        minute=slot("minute"),
        strikes=counters.limiting_locks(SQL("0")),
        refused_ms=now,
        counts=SQL("1 = 0"),
    )
    return new.on_conflict(
        conflict_target=(Strike.key_id,),
        preserve=(Strike.minute, Strike.refused_ms),
        update={
            Strike.strikes: Case(None, [(is_same_minute, Strike.strikes)], 0)
            + _one_if(is_strike),
            Strike.counts: is_strike,
        },
        # A refusal that arrives after a later one does not count.
        where=EXCLUDED.refused_ms >= Strike.refused_ms,
    ).returning(Strike.strikes, Strike.counts)


@statement(counters)
def _write_nothing() -> Query:
    return Usage.delete().where(SQL("1 = 0"))


@statement(counters)
def _select_latest() -> Query:
    # An aggregate returns one row even for an unknown subject.
    now = counters.now_ms
    columns = (Usage.minute, Usage.minute_served, Usage.served)
    return Usage.select(now, *map(fn.MAX, columns)).where(
        Usage.subject == slot("subject"), Usage.day == now / MS_PER_DAY
    )
