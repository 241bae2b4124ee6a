"""A storage of limits in the database: a row for each subject, one statement a hit."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import peewee
from limits.storage import Storage
from peewee import (
    EXCLUDED,
    SQL,
    BigIntegerField,
    BooleanField,
    Case,
    Cast,
    Expression,
    Query,
    TextField,
    fn,
)

from petstore import clock
from petstore.clock import MS_PER_DAY, MS_PER_MINUTE, MS_PER_SECOND
from petstore.quotas.storages import STRIKE_PAUSE_MS
from petstore.quotas.strategy import AlignedWindowSupport, Counts, Hit, window_end_ms
from petstore.storage import CounterModel, counters, slot, statement

USUAL_MS = (MS_PER_MINUTE, MS_PER_DAY)
UNLIMITED = 2**62


class Counter(CounterModel):
    """What a subject has used of two windows, the shorter and the longer one."""

    subject = TextField(primary_key=True)
    short_ends_ms = BigIntegerField()
    short_used = BigIntegerField()
    long_ends_ms = BigIntegerField(index=True)  # the row may be deleted a day later
    long_used = BigIntegerField()
    hit_ms = BigIntegerField()
    is_granted = BooleanField()  # whether the latest hit was granted


class Strike(CounterModel):
    """The refusals of a key that count towards its ban, in one minute."""

    key_id = BigIntegerField(primary_key=True)
    minute = BigIntegerField()
    strikes = BigIntegerField()
    refused_ms = BigIntegerField()
    counts = BooleanField()  # whether the latest refusal is among the strikes


class DatabaseStorage(Storage, AlignedWindowSupport):
    """Counts exactly over all processes: the database serializes a subject's hits."""

    STORAGE_SCHEME = ["petstore+database"]

    def __init__(self, uri: str | None = None, **options: Any) -> None:
        super().__init__(uri, **options)

    @property
    def base_exceptions(self) -> type[Exception]:
        """What is raised while the database is away."""
        return peewee.PeeweeException

    def count(
        self,
        hits: Sequence[Hit],
        cost: int = 1,
        banned_until_ms: int = 0,
        key_id: int | None = None,
    ) -> Counts:
        """Count a request in all windows of all hits, or in none; cost 0 only looks."""
        rows = _rows(hits)
        if cost == 0:
            return _counts(hits, {row.subject: _look(row) for row in rows})
        found = _take(rows, cost, banned_until_ms)
        counts = _counts(hits, found)
        if not counts.is_granted and key_id is not None:
            strikes = _strikes(key_id, counts.now_ms, banned_until_ms)
            return counts._replace(strikes=strikes)
        return counts

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Add to a counter, whose window is aligned to multiples of its seconds."""
        row = Row(key, (expiry * MS_PER_SECOND,) * 2, [UNLIMITED] * 2)
        return _take([row], amount, 0)[key].short_used

    def get(self, key: str) -> int:
        """Return a counter."""
        is_current = Counter.short_ends_ms > clock.now_ms()
        rows = Counter.select(Counter.short_used).where(Counter.subject == key)
        return int(rows.where(is_current).scalar() or 0)

    def get_expiry(self, key: str) -> float:
        """Return when a counter begins anew, in seconds since 1970."""
        rows = Counter.select(Counter.short_ends_ms).where(Counter.subject == key)
        ends_ms = rows.scalar() or clock.now_ms()
        return float(ends_ms / MS_PER_SECOND)

    def check(self) -> bool:
        """Return whether the database can be written to."""
        try:
            Counter.delete().where(SQL("1 = 0")).execute()
        except self.base_exceptions:
            return False
        return True

    def reset(self) -> int | None:
        """Forget everything; return how many subjects there were."""
        return int(Counter.delete().execute())

    def clear(self, key: str) -> None:
        """Forget what was counted for a subject."""
        Counter.delete().where(Counter.subject == key).execute()


class Row(NamedTuple):
    """The row of a subject, the lengths of its two windows and their limits."""

    subject: str
    lengths_ms: tuple[int, int]
    limits: list[int]


class Found(NamedTuple):
    """What is used of the windows of a row, and whether the hit was granted."""

    is_granted: bool
    short_used: int
    long_used: int
    now_ms: int


class _Refused(Exception):
    """Rolls back what was counted before one of the rows has refused."""


def _rows(hits: Sequence[Hit]) -> list[Row]:
    """Return the rows of hits; a window of unusual length has one of its own."""
    rows: dict[str, Row] = {}
    for hit in hits:
        for item in hit.limits:
            name, lengths_ms, place = _place(hit, item.get_expiry())
            new = Row(name, lengths_ms, [UNLIMITED, UNLIMITED])
            rows.setdefault(name, new).limits[place] = item.amount
    return list(rows.values())


def _place(hit: Hit, seconds: int) -> tuple[str, tuple[int, int], int]:
    """Return the row of a window, the lengths of its windows, and which one it is."""
    length_ms = seconds * MS_PER_SECOND
    if length_ms in USUAL_MS:
        return hit.subject, USUAL_MS, USUAL_MS.index(length_ms)
    return f"{hit.subject}/{seconds}", (length_ms, length_ms), 0


def _counts(hits: Sequence[Hit], found: dict[str, Found]) -> Counts:
    used = []
    for hit in hits:
        for item in hit.limits:
            name, _, place = _place(hit, item.get_expiry())
            used.append((found[name].short_used, found[name].long_used)[place])
    is_granted = all(row.is_granted for row in found.values())
    return Counts(is_granted, used, max(row.now_ms for row in found.values()))


def _take(rows: list[Row], cost: int, banned_until_ms: int) -> dict[str, Found]:
    """Count in all rows, or in none."""
    if len(rows) == 1:
        return {rows[0].subject: _upsert(rows[0], cost, banned_until_ms)}
    found: dict[str, Found] = {}
    try:
        with counters.atomic():
            for row in rows:
                found[row.subject] = _upsert(row, cost, banned_until_ms)
                if not found[row.subject].is_granted:
                    raise _Refused
    except _Refused:
        for row in rows:
            if row.subject not in found:
                found[row.subject] = _look(row)
            elif (undone := found[row.subject]).is_granted:
                found[row.subject] = undone._replace(
                    short_used=undone.short_used - cost,
                    long_used=undone.long_used - cost,
                )
    return found


def _upsert(row: Row, cost: int, banned_until_ms: int) -> Found:
    [found] = _upsert_counter.autocommit(
        subject=row.subject,
        short_ms=row.lengths_ms[0],
        long_ms=row.lengths_ms[1],
        short_limit=row.limits[0],
        long_limit=row.limits[1],
        cost=cost,
        banned_until=banned_until_ms,
        now_ms=clock.now_ms(),
    )
    return Found(*found)


def _look(row: Row) -> Found:
    values = {"subject": row.subject, "now_ms": clock.now_ms()}
    [(now, short_ends, short_used, long_ends, long_used)] = _select_counter(**values)
    # As in `_upsert_counter`.
    short_ms, long_ms = row.lengths_ms
    for ends_ms, length_ms in ((long_ends, long_ms), (short_ends, short_ms)):
        if ends_ms == window_end_ms(now, length_ms) + length_ms:
            now = ends_ms - length_ms
    return Found(
        False,
        short_used if short_ends == window_end_ms(now, short_ms) else 0,
        long_used if long_ends == window_end_ms(now, long_ms) else 0,
        now,
    )


@statement(counters)
def _upsert_counter() -> Query:
    now, cost = counters.now_ms, slot("cost")
    short_ms, long_ms = slot("short_ms"), slot("long_ms")
    short_limit, long_limit = slot("short_limit"), slot("long_limit")
    banned_until = slot("banned_until")
    # The row may already be in the next window, if the hit has waited for the row or
    # the clock was set back. The hit then counts in that window, so that none is
    # counted twice.
    at_ms = Case(
        None,
        [
            (
                Counter.short_ends_ms == EXCLUDED.short_ends_ms + short_ms,
                EXCLUDED.short_ends_ms,
            ),
            (
                Counter.long_ends_ms == EXCLUDED.long_ends_ms + long_ms,
                EXCLUDED.long_ends_ms,
            ),
        ],
        EXCLUDED.hit_ms,
    )
    short_ends, long_ends = _end(at_ms, short_ms), _end(at_ms, long_ms)
    is_same = Counter.short_ends_ms == short_ends
    short_used = Case(None, [(is_same, Counter.short_used)], 0)
    is_same = Counter.long_ends_ms == long_ends
    long_used = Case(None, [(is_same, Counter.long_used)], 0)
    not_banned = EXCLUDED.hit_ms >= banned_until
    is_granted = (
        not_banned
        & (short_used + cost <= short_limit)
        & (long_used + cost <= long_limit)
    )
    is_first_granted = (
        (now >= banned_until) & (cost <= short_limit) & (cost <= long_limit)
    )
    new = Counter.insert(
        subject=counters.limiting_locks(slot("subject")),
        short_ends_ms=_end(now, short_ms),
        short_used=cost * _one_if(is_first_granted),
        long_ends_ms=_end(now, long_ms),
        long_used=cost * _one_if(is_first_granted),
        hit_ms=now,
        is_granted=is_first_granted,
    )
    return new.on_conflict(
        conflict_target=(Counter.subject,),
        update={
            Counter.short_ends_ms: short_ends,
            Counter.short_used: short_used + cost * _one_if(is_granted),
            Counter.long_ends_ms: long_ends,
            Counter.long_used: long_used + cost * _one_if(is_granted),
            Counter.hit_ms: at_ms,
            Counter.is_granted: is_granted,
        },
    ).returning(
        Counter.is_granted, Counter.short_used, Counter.long_used, Counter.hit_ms
    )


def _end(moment: Any, length_ms: Any) -> Any:
    return (moment / length_ms + 1) * length_ms


def _one_if(condition: Expression) -> Cast:
    return Cast(condition, "int")


@statement(counters)
def _select_counter() -> Query:
    # An aggregate returns one row even for an unknown subject.
    columns = (
        Counter.short_ends_ms,
        Counter.short_used,
        Counter.long_ends_ms,
        Counter.long_used,
    )
    rows = Counter.select(counters.now_ms, *map(fn.MAX, columns))
    return rows.where(Counter.subject == slot("subject"))


def _strikes(key_id: int, now_ms: int, banned_until_ms: int) -> int:
    """Return how many refusals count towards a ban; 0 if this one does not."""
    rows = _upsert_strike.autocommit(
        key=key_id,
        minute=now_ms // MS_PER_MINUTE,
        now_ms=now_ms,
        banned_until=banned_until_ms,
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
