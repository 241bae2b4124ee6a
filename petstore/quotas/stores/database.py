"""Counters in the database: a row for each subject and day, one statement a hit."""

from peewee import BigIntegerField, BooleanField, CompositeKey, TextField

from petstore import clock
from petstore.clock import MS_PER_DAY, MS_PER_MINUTE
from petstore.quotas.decisions import Counts, Day, Hit
from petstore.quotas.stores import STRIKE_PAUSE_MS, CounterStorage
from petstore.quotas.subjects import Subject
from petstore.storage import Busy, CounterModel, Sweep, counters, slot, statement


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
        [row] = _upsert.at_once(
            hit.subject.name,
            subject=hit.subject.name,
            kept_days=hit.subject.kept_days,
            per_minute=hit.quota.per_minute,
            per_day=hit.quota.per_day,
            banned_until=hit.banned_until_ms,
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
        _write_nothing.at_once(subject.name)

    def is_away(self, error: Exception) -> bool:
        counters.recover(error)
        return counters.is_outage(error) and not isinstance(error, Busy)

    def close(self) -> None:
        pass  # the connections belong to the database


@statement(counters)
def _upsert() -> str:
    now = counters.now_ms.sql
    subject = counters.limiting_locks(":subject")
    minute, day = f"{now} / {MS_PER_MINUTE}", f"{now} / {MS_PER_DAY}"
    # A new row counts one request, which every quota allows.
    not_banned = f"{now} >= :banned_until"
    # The row may already be in the next minute, if the hit has waited for the row or
    # the clock was set back. The hit then counts in that minute, so that no minute is
    # counted twice.
    is_late = "known.minute = excluded.minute + 1"
    minute_served = f"""
        CASE WHEN {is_late} OR known.minute = excluded.minute
        THEN known.minute_served ELSE 0 END"""
    is_granted = f"""
        {not_banned} AND {minute_served} < :per_minute AND known.served < :per_day"""
    return f"""
        INSERT INTO "usage" AS known (
            subject, day, served, refused,
            minute, minute_served, hit_ms, is_granted, last_day
        )
        VALUES (
            {subject}, {day}, {_one_if(not_banned)}, 1 - {_one_if(not_banned)},
            {minute}, {_one_if(not_banned)}, {now}, {not_banned}, {day} + :kept_days
        )
        ON CONFLICT (subject, day) DO UPDATE SET
            served = known.served + {_one_if(is_granted)},
            refused = known.refused + 1 - {_one_if(is_granted)},
            minute = CASE WHEN {is_late} THEN known.minute ELSE excluded.minute END,
            minute_served = {minute_served} + {_one_if(is_granted)},
            hit_ms = CASE WHEN {is_late} THEN known.hit_ms ELSE excluded.hit_ms END,
            is_granted = {is_granted}
        RETURNING is_granted, minute_served, served, hit_ms"""  # noqa: S608 (no values)


def _one_if(condition: str) -> str:
    return f"CAST({condition} AS int)"


_sweep = Sweep(Usage, Usage.last_day, lambda: Usage.last_day < slot("today"))


def _strikes(hit: Hit, counts: Counts) -> int:
    """Return how many refusals count towards a ban; 0 if this one does not."""
    rows = _upsert_strike.at_once(
        hit.subject.name,
        key=hit.key_id,
        minute=counts.now_ms // MS_PER_MINUTE,
        now_ms=counts.now_ms,
        banned_until=hit.banned_until_ms,
    )
    return next((strikes for strikes, is_strike in rows if is_strike), 0)


@statement(counters)
def _upsert_strike() -> str:
    counts = f"""
        :now_ms >= :banned_until AND :now_ms - known.refused_ms >= {STRIKE_PAUSE_MS}"""
    # A refusal that arrives after a later one does not count.
    return f"""
        INSERT INTO strike AS known (key_id, minute, strikes, refused_ms, counts)
        VALUES (:key, :minute, {counters.limiting_locks("0")}, :now_ms, 1 = 0)
        ON CONFLICT (key_id) DO UPDATE SET
            minute = excluded.minute,
            strikes = {_one_if(counts)} + CASE
                WHEN known.minute = excluded.minute THEN known.strikes ELSE 0 END,
            refused_ms = excluded.refused_ms,
            counts = {counts}
        WHERE excluded.refused_ms >= known.refused_ms
        RETURNING strikes, counts"""  # noqa: S608 (no values)


@statement(counters)
def _write_nothing() -> str:
    return 'DELETE FROM "usage" WHERE 1 = 0'


@statement(counters)
def _select_latest() -> str:
    # An aggregate returns one row even for an unknown subject.
    now = counters.now_ms.sql
    return f"""
        SELECT {now}, max(minute), max(minute_served), max(served) FROM "usage"
        WHERE subject = :subject AND day = {now} / {MS_PER_DAY}"""  # noqa: S608 (no values)
