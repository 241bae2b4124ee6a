"""A storage of limits in the database: a row a window, one statement a hit."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import peewee
from peewee import EXCLUDED, SQL, BigIntegerField, Case, Query, Select, chunked, fn

from petstore import clock
from petstore.models import Retention, retentions
from petstore.quotas.strategy import NO_BAN, AlignedWindowStorage, Ban, Counts, Window
from petstore.storage import CounterModel, compiled, counters, placeholder

UNLIMITED = 2**62
KNOWN = 10_000  # subjects
LONGEST_SECONDS = clock.MS_PER_DAY // clock.MS_PER_SECOND


class Counter(CounterModel):
    """How much of a window is used; later windows of the key use the row again."""

    key = peewee.TextField(primary_key=True)
    ends_ms = BigIntegerField(index=True)  # the row is deleted after that
    used = BigIntegerField()
    most = BigIntegerField()

    class Meta:
        table_name = "window_counter"  # as release 1.4.0 has it
        # The database refuses a statement as a whole if a window of it has no room.
        constraints = [peewee.Check("used <= most")]


class Strike(CounterModel):
    """The refusals of a key that count towards its ban, in one minute."""

    key_id = BigIntegerField(primary_key=True)
    minute = BigIntegerField(index=True)
    strikes = BigIntegerField()
    refused_ms = BigIntegerField()
    counts = peewee.BooleanField()  # whether the latest refusal is among the strikes


retentions += [
    # A clock may be set back into a window, but not by hours.
    Retention(Counter, Counter.ends_ms, clock.MS_PER_DAY // 2),
    Retention(Strike, Strike.minute, 60, unit_ms=clock.MS_PER_MINUTE),
]


class DatabaseStorage(AlignedWindowStorage):
    """Counts exactly over all processes: the database serializes a window's hits."""

    base_exceptions = peewee.PeeweeException  # raised while the database is away

    def __init__(self) -> None:
        super().__init__()
        # When the shortest window of each subject ends that this process has counted
        # in last, by `clock.monotonic`. Until then, a hit begins no window.
        self._ends_at: dict[str, float] = {}

    def acquire_windows(
        self, windows: Sequence[Window], amount: int = 1, ban: Ban = NO_BAN
    ) -> Counts:
        count, subject, now = len(windows), windows[-1].key, clock.monotonic()
        given = [value for window in windows for value in window[:3]]
        given += amount, ban.until_ms
        values = dict(zip(_names(count), given, strict=True))
        begins = self._ends_at.get(subject, 0.0) <= now
        rows = amount and _hit(values, count, begins)
        while not rows:
            [(now_ms, *found)] = _select(count, **values)
            used = [(used or 0, ends_ms or 0) for used, ends_ms in chunked(found, 2)]
            pairs = zip(windows, used, strict=True)
            has_room = all(number + amount <= w.limit for w, (number, _) in pairs)
            if not (amount and has_room and now_ms >= ban.until_ms):
                return Counts(False, now_ms, amount and _strikes(ban, now_ms), used)
            rows = _hit(values, count, True)
        of_keys = {key: (used, ends_ms) for key, used, ends_ms, _ in rows}
        used = [of_keys[window.key] for window in windows]
        if len(self._ends_at) >= KNOWN:
            self._ends_at.clear()
        now_ms = rows[0][-1]
        self._ends_at[subject] = now + (used[0][1] - now_ms) / clock.MS_PER_SECOND
        return Counts(True, now_ms, 0, used)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        window = Window(key, expiry, UNLIMITED, "")
        return self.acquire_windows([window], amount).windows[0][0]

    def get(self, key: str) -> int:
        return self.incr(key, LONGEST_SECONDS, 0)

    def get_expiry(self, key: str) -> float:
        window = Window(key, LONGEST_SECONDS, UNLIMITED, "")
        return self.acquire_windows([window], 0).windows[0][1] / clock.MS_PER_SECOND

    def check(self) -> bool:
        return bool(counters.table_exists("window_counter"))

    def reset(self) -> int | None:
        return int(Counter.delete().execute())

    def clear(self, key: str) -> None:
        Counter.delete().where(Counter.key == key).execute()


def _hit(values: dict[str, Any], count: int, begins: bool) -> list[Any]:
    """Count in all windows; return their rows, or none if one of them has no room."""
    try:
        return _upsert.autocommit(count, begins, **values)
    except peewee.IntegrityError:  # while it waited, another hit took the room
        return []


@cache
def _names(count: int) -> list[str]:
    kinds = ("key", "seconds", "limit")
    names = [f"{kind}{number}" for number in range(count) for kind in kinds]
    return [*names, "amount", "banned_until"]


def _slots(count: int) -> list[tuple[placeholder, Any, placeholder]]:
    """Return the key, the milliseconds and the limit of each window."""
    slots = chunked(map(placeholder, _names(count)[:-2]), 3)
    return [(key, each * clock.MS_PER_SECOND, limit) for key, each, limit in slots]


@compiled(counters)
def _select(count: int) -> Query:
    windows = [
        Counter.select(column).where(Counter.key == key, _is_current(ms))
        for key, ms, _ in _slots(count)
        for column in (Counter.used, Counter.ends_ms)
    ]
    return Select(columns=[counters.now_ms, *windows])


@compiled(counters)
def _upsert(count: int, begins: bool) -> Query:
    """Return the query that counts; only with `begins` can it begin windows.

    To set their ends is dearer: SQLite writes the index of each column that is set,
    even if its value stays the same.
    """
    now, amount, slots = counters.now_ms, placeholder("amount"), _slots(count)
    rows, has_room = [], now >= placeholder("banned_until")
    for key, ms, limit in slots:
        rows.append((key, (now / ms + 1) * ms, amount, limit))
        is_current, is_full = _is_current(ms), Counter.used > limit - amount
        refuses = is_current & is_full if begins else ~is_current | is_full
        refusing = Counter.select(SQL("1")).where(Counter.key == key, refuses)
        has_room &= (amount <= limit) & ~fn.EXISTS(refusing)
    new = Select([peewee.ValuesList(rows)], [SQL("*")]).where(has_room)
    update = {Counter.most: EXCLUDED.most, Counter.used: Counter.used + EXCLUDED.used}
    if begins:
        is_current = _is_current(Case(Counter.key, [each[:2] for each in slots]))
        used = Case(None, [(is_current, Counter.used)], 0) + EXCLUDED.used
        ends_ms = Case(None, [(is_current, Counter.ends_ms)], EXCLUDED.ends_ms)
        update |= {Counter.used: used, Counter.ends_ms: ends_ms}
    query = Counter.insert_from(new, Counter._meta.sorted_fields)
    query = query.on_conflict(conflict_target=(Counter.key,), update=update)
    return query.returning(Counter.key, Counter.used, Counter.ends_ms, now)


def _is_current(ms: Any) -> Any:
    """Return the condition that the window of a row is the current one.

    If the clock was set back, the row may hold the next window. That counts as the
    current one, so that hits are counted in it and not in both.
    """
    now = counters.now_ms
    return (Counter.ends_ms > now) & (Counter.ends_ms <= now + 2 * ms)


def _strikes(ban: Ban, now_ms: int) -> int:
    """Return how many refusals count towards a ban; 0 if this one does not."""
    if ban.key_id is None:
        return 0
    rows = _upsert_strike.autocommit(at_ms=now_ms, **ban._asdict())
    return next((strikes for strikes, is_strike in rows if is_strike), 0)


@compiled(counters)
def _upsert_strike() -> Query:
    now = placeholder("at_ms")
    has_paused = now - Strike.refused_ms >= clock.MS_PER_SECOND
    is_strike = (now >= placeholder("until_ms")) & has_paused
    strikes: Any = Case(None, [(Strike.minute == EXCLUDED.minute, Strike.strikes)], 0)
    first: dict[Any, Any] = {
        Strike.key_id: placeholder("key_id"),
        Strike.refused_ms: now,
    }
    first |= {Strike.minute: now / clock.MS_PER_MINUTE, Strike.strikes: 0}
    counts: dict[Any, Any] = {Strike.strikes: strikes + peewee.Cast(is_strike, "int")}
    query = Strike.insert(first | {Strike.counts: SQL("1 = 0")}).on_conflict(
        conflict_target=(Strike.key_id,),
        preserve=(Strike.minute, Strike.refused_ms),
        update=counts | {Strike.counts: is_strike},
        # A refusal that arrives after a later one does not count.
        where=EXCLUDED.refused_ms >= Strike.refused_ms,
    )
    return query.returning(Strike.strikes, Strike.counts)
