"""A storage of limits in the database: a row for each subject, one statement a hit."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import peewee
from limits import RateLimitItemPerSecond
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
from petstore.clock import MS_PER_MINUTE, MS_PER_SECOND
from petstore.quotas.strategy import NO_BAN, AlignedWindowSupport, Ban, Counts, Hit
from petstore.storage import CounterModel, compiled, counters, placeholder

UNLIMITED = 2**62


class Counter(CounterModel):
    """What a subject has used of two windows, the shorter and the longer one."""

    subject = TextField(primary_key=True)
    short_ends_ms = BigIntegerField()
    short_used = BigIntegerField()
    long_ends_ms = BigIntegerField(index=True)  # the row is deleted after that
    long_used = BigIntegerField()
    hit_ms = BigIntegerField()
    is_granted = BooleanField()  # whether the latest hit was granted


class Strike(CounterModel):
    """The refusals of a key that count towards its ban, in one minute."""

    key_id = BigIntegerField(primary_key=True)
    minute = BigIntegerField(index=True)
    strikes = BigIntegerField()
    refused_ms = BigIntegerField()
    counts = BooleanField()  # whether the latest refusal is among the strikes


class DatabaseStorage(Storage, AlignedWindowSupport):
    """Counts exactly over all processes: the database serializes a subject's hits."""

    STORAGE_SCHEME = ["petstore+database"]

    @property
    def base_exceptions(self) -> type[Exception]:
        """What is raised while the database is away."""
        return peewee.PeeweeException

    def count(self, hits: Sequence[Hit], cost: int = 1, ban: Ban = NO_BAN) -> Counts:
        found = _count_all(hits, cost, ban.until_ms)
        used = [
            number
            for hit, each in zip(hits, found, strict=True)
            for number in (each.short_used, each.long_used)[: len(hit.limits)]
        ]
        now_ms = max(each.now_ms for each in found)
        is_granted = all(each.is_granted for each in found)
        if is_granted or not cost or ban.key_id is None:
            return Counts(is_granted, used, now_ms)
        return Counts(False, used, now_ms, _strikes(ban.key_id, now_ms, ban))

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Add to a counter, whose window is aligned to multiples of its seconds."""
        window = RateLimitItemPerSecond(UNLIMITED, expiry)
        return _count(Hit(key, [window]), amount, 0).short_used

    def get(self, key: str) -> int:
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
        Counter.delete().where(Counter.subject == key).execute()


class Found(NamedTuple):
    """What is used of the windows of a subject, and whether the hit was granted."""

    is_granted: bool
    short_used: int
    long_used: int
    now_ms: int


class _Refused(Exception):
    """Rolls back what was counted before one of the subjects has refused."""


def _count_all(hits: Sequence[Hit], cost: int, banned_until_ms: int) -> list[Found]:
    found: list[Found] = []
    if len(hits) == 1 or not cost:
        return [_count(hit, cost, banned_until_ms) for hit in hits]
    try:
        with counters.atomic():
            for hit in hits:
                found.append(_count(hit, cost, banned_until_ms))
                if not found[-1].is_granted:
                    raise _Refused
    except _Refused:
        return _count_all(hits, 0, banned_until_ms)
    return found


def _count(hit: Hit, cost: int, banned_until_ms: int) -> Found:
    """Count for one subject, in a window or in a shorter and a longer one."""
    short, long = hit.limits[0], hit.limits[-1]
    run = _upsert_counter.autocommit if cost else _select_counter
    [found] = run(
        subject=hit.subject,
        short_ms=short.get_expiry() * MS_PER_SECOND,
        long_ms=long.get_expiry() * MS_PER_SECOND,
        short_limit=short.amount,
        long_limit=long.amount,
        cost=cost,
        banned_until=banned_until_ms,
    )
    return Found(*found)


@compiled(counters)
def _select_counter() -> Query:
    # An aggregate returns a row, of null, for a subject that has none.
    now = counters.now_ms
    pairs = zip(_used_at(now), (0, 0, now), strict=True)
    shown = [fn.COALESCE(fn.MAX(found), else_) for found, else_ in pairs]
    is_subject = Counter.subject == placeholder("subject")
    return Counter.select(SQL("1 = 0"), *shown).where(is_subject)


@compiled(counters)
def _upsert_counter() -> Query:
    now, cost = counters.now_ms, placeholder("cost")
    short, long = placeholder("short_ms"), placeholder("long_ms")
    short_used, long_used, at_ms = _used_at(EXCLUDED.hit_ms)
    is_granted = _is_granted(EXCLUDED.hit_ms, short_used, long_used)
    is_new_granted = _is_granted(now, 0, 0)
    new = Counter.insert(
        subject=placeholder("subject"),
        short_ends_ms=_end(now, short),
        short_used=cost * _one_if(is_new_granted),
        long_ends_ms=_end(now, long),
        long_used=cost * _one_if(is_new_granted),
        hit_ms=now,
        is_granted=is_new_granted,
    )
    return new.on_conflict(
        conflict_target=(Counter.subject,),
        update={
            Counter.short_ends_ms: _end(at_ms, short),
            Counter.short_used: short_used + cost * _one_if(is_granted),
            Counter.long_ends_ms: _end(at_ms, long),
            Counter.long_used: long_used + cost * _one_if(is_granted),
            Counter.hit_ms: at_ms,
            Counter.is_granted: is_granted,
        },
    ).returning(
        Counter.is_granted, Counter.short_used, Counter.long_used, Counter.hit_ms
    )


def _used_at(now: Any) -> tuple[Case, ...]:
    """Return what is used of both windows of a row, and when a hit of now counts.

    The row may already be in the next window, if the hit has waited for the row or the
    clock was set back. The hit then counts in that window, so that none is counted
    twice.
    """
    windows = (
        (Counter.short_ends_ms, Counter.short_used, placeholder("short_ms")),
        (Counter.long_ends_ms, Counter.long_used, placeholder("long_ms")),
    )
    nows = [(ends, _end(now, ms), ms) for ends, _, ms in windows]
    at_ms = Case(None, [(ends == end + ms, end) for ends, end, ms in nows], now)
    used_at = [
        Case(None, [(ends == _end(at_ms, ms), used)], 0) for ends, used, ms in windows
    ]
    return *used_at, at_ms


def _end(moment: Any, length_ms: Any) -> Any:
    return (moment / length_ms + 1) * length_ms


def _is_granted(now: Any, short_used: Any, long_used: Any) -> Any:
    cost = placeholder("cost")
    return (
        (now >= placeholder("banned_until"))
        & (cost + short_used <= placeholder("short_limit"))
        & (cost + long_used <= placeholder("long_limit"))
    )


def _one_if(condition: Expression) -> Cast:
    return Cast(condition, "int")


def _strikes(key_id: int, now_ms: int, ban: Ban) -> int:
    """Return how many refusals count towards a ban; 0 if this one does not."""
    rows = _upsert_strike.autocommit(
        key=key_id,
        minute=now_ms // MS_PER_MINUTE,
        at_ms=now_ms,
        banned_until=ban.until_ms,
        pause=ban.pause_ms,
    )
    return next((strikes for strikes, is_strike in rows if is_strike), 0)


@compiled(counters)
def _upsert_strike() -> Query:
    now = placeholder("at_ms")
    is_strike = (now >= placeholder("banned_until")) & (
        now - Strike.refused_ms >= placeholder("pause")
    )
    is_same_minute = Strike.minute == EXCLUDED.minute
    new = Strike.insert(
        key_id=placeholder("key"),
        minute=placeholder("minute"),
        strikes=0,
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
