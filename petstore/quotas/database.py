"""A storage of limits in the database: a row a subject, one statement a hit."""

from collections import namedtuple
from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import chain
from operator import or_
from typing import Any

import peewee
from peewee import EXCLUDED, SQL, BigIntegerField, Case, Query, Select, chunked, fn

from petstore import clock
from petstore.models import Retention, retentions
from petstore.quotas.strategy import NO_BAN, AlignedWindowStorage, Ban, Counts, Window
from petstore.storage import CounterModel, compiled, counters, placeholder

UNLIMITED = 2**62
KNOWN = 1_000  # hits whose values a process keeps
MINUTE, DAY = "/60", "/86400"  # the ends of the keys of these windows
# Where a row has what is used of a window, which its end follows; in the values of a
# hit, the limit follows what is added.
OWN, OF_MINUTE = 1, 3
NOT_HIT = (0, UNLIMITED, 0, UNLIMITED, clock.MS_PER_DAY)


class Counter(CounterModel):
    """How much of a window is used; later windows of the key use the row again.

    The row of a day holds the minute of its subject, too.
    """

    key = peewee.TextField(primary_key=True)
    ends_ms = BigIntegerField(index=True)  # the row is deleted after that
    used = BigIntegerField()
    most = BigIntegerField()
    minute_ends_ms = BigIntegerField(constraints=[SQL("DEFAULT 0")])
    minute_used = BigIntegerField(constraints=[SQL("DEFAULT 0")])
    minute_most = BigIntegerField(constraints=[SQL("DEFAULT 0")])

    class Meta:
        table_name = "window_counter"  # as release 1.4.0 has it
        # The database refuses a statement as a whole if a window of it has no room.
        constraints = [
            peewee.Check("used <= most"),
            peewee.Check("minute_used <= minute_most"),
        ]


# A row, as `Counter` has it.
Hit = namedtuple("Hit", "key ends_ms used most minute_ends_ms minute_used minute_most")


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

    def acquire_windows(
        self, windows: Sequence[Window], amount: int = 1, ban: Ban = NO_BAN
    ) -> Counts:
        count, places, values = _values(tuple(windows), amount)
        # Only the clock of the database tells whether a ban has ended.
        rows = _hit(values, count, False) if amount and not ban.until_ms else []
        while not rows:
            [found] = _select(count, **values)
            rows = [*chunked(found, len(found) // count)]
            used, now_ms = _used(places, rows)
            pairs = zip(windows, used, strict=True)
            has_room = all(number + amount <= w.limit for w, (number, _) in pairs)
            if not (amount and has_room and now_ms >= ban.until_ms):
                return Counts(False, now_ms, amount and _strikes(ban, now_ms), used)
            rows = _hit(values, count, True)
        used, now_ms = _used(places, rows)
        return Counts(True, now_ms, 0, used)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        return self._count(key, expiry, amount)[0]

    def get(self, key: str) -> int:
        return self._count(key, 1, 0)[0]

    def get_expiry(self, key: str) -> float:
        return self._count(key, 1, 0)[1] / clock.MS_PER_SECOND

    def check(self) -> bool:
        return bool(counters.table_exists("window_counter"))

    def reset(self) -> int | None:
        return int(Counter.delete().execute())

    def clear(self, key: str) -> None:
        row, place = _place(key)
        used = Counter.minute_used if place == OF_MINUTE else Counter.used
        Counter.update({used: 0}).where(Counter.key == row).execute()

    def _count(self, key: str, seconds: int, amount: int) -> tuple[int, int]:
        window = Window(key, seconds, UNLIMITED, "")
        return self.acquire_windows([window], amount).windows[0]


@lru_cache(KNOWN)
def _values(
    windows: Sequence[Window], amount: int
) -> tuple[int, list[tuple[str, int]], dict[str, Any]]:
    """Return the rows of windows: how many, where each window is, and their values."""
    hits: dict[str, list[Any]] = {}
    places = [_place(window.key) for window in windows]
    for (row, place), window in zip(places, windows, strict=True):
        hit = hits.setdefault(row, [row, *NOT_HIT])
        hit[place : place + 2] = amount, window.limit
        if place == OWN:
            hit[-1] = window.seconds * clock.MS_PER_SECOND
    names = _names(len(hits))
    return len(hits), places, dict(zip(names, chain(*hits.values()), strict=True))


def _place(key: str) -> tuple[str, int]:
    """Return the key of the row that has a window, and where the row has it."""
    if key.endswith(MINUTE):
        return f"{key.removesuffix(MINUTE)}{DAY}", OF_MINUTE
    return key, OWN


def _used(
    places: Sequence[tuple[str, int]], rows: list[Any]
) -> tuple[list[tuple[int, int]], int]:
    """Return how much is used of each window, and its end; and the time."""
    of_keys = {row[0]: row for row in rows}
    used = [of_keys[row][place : place + 2] for row, place in places]
    return used, rows[0][-1]


def _hit(values: dict[str, Any], count: int, begins: bool) -> list[Any]:
    """Count in all windows; return their rows, or none if one of them has no room."""
    try:
        return _upsert.autocommit(count, begins, **values)
    except peewee.IntegrityError:  # while it waited, another hit took the room
        return []


def _names(count: int) -> list[str]:
    kinds = ("key", "amount", "limit", "in_minute", "limit_of_minute", "ms")
    return [f"{kind}{number}" for number in range(count) for kind in kinds]


def _rows(count: int) -> list[Hit]:
    """Return the rows of hits that begin their windows."""
    now, minute, rows = counters.now_ms, clock.MS_PER_MINUTE, []
    for names in chunked(map(placeholder, _names(count)), len(_names(1))):
        key, amount, limit, in_minute, limit_of_minute, ms = names
        of_minute = (now / minute + 1) * minute, in_minute, limit_of_minute
        rows.append(Hit(key, (now / ms + 1) * ms, amount, limit, *of_minute))
    return rows


@compiled(counters)
def _select(count: int) -> Query:
    columns: list[Any] = []
    for row in _rows(count):
        of_row = Counter.key == row.key
        used = [Counter.select(each).where(of_row) for each in _before(row)]
        columns += row.key, *(fn.COALESCE(each, 0) for each in used), counters.now_ms
    return Select(columns=columns)


@compiled(counters)
def _upsert(count: int, begins: bool) -> Query:
    """Return the query that counts; only with `begins` can it begin a day.

    To set its end is dearer: SQLite writes the index of each column that is set, even
    if its value stays the same.
    """

    def has_room(row: Any) -> Any:
        used, ends_ms, in_minute, _ = _before(row)
        room = used <= row.most - row.used
        room &= in_minute <= row.minute_most - row.minute_used
        return room if begins else room & (Counter.ends_ms == ends_ms)

    rows, columns = _rows(count), Counter._meta.sorted_fields
    used, ends_ms, in_minute, minute_ends_ms = _before(EXCLUDED)
    update = {
        Counter.used: used + EXCLUDED.used,
        Counter.most: EXCLUDED.most,
        Counter.minute_ends_ms: minute_ends_ms,
        Counter.minute_used: in_minute + EXCLUDED.minute_used,
        Counter.minute_most: EXCLUDED.minute_most,
    }
    if begins:
        update[Counter.ends_ms] = ends_ms
    conflict = {"conflict_target": (Counter.key,), "update": update}
    if count == 1:
        query = Counter.insert_many(rows, columns)
        query = query.on_conflict(**conflict, where=has_room(EXCLUDED))
    else:  # SQLite makes a table for the rows, which is half as dear again
        full = [(Counter.key == row.key) & ~has_room(row) for row in rows]
        any_full = fn.EXISTS(Counter.select(SQL("1")).where(reduce(or_, full)))
        new = Select([peewee.ValuesList(rows)], [SQL("*")]).where(~any_full)
        query = Counter.insert_from(new, columns).on_conflict(**conflict)
    of_minute = Counter.minute_used, Counter.minute_ends_ms, counters.now_ms
    return query.returning(Counter.key, Counter.used, Counter.ends_ms, *of_minute)


def _before(row: Any) -> tuple[Any, ...]:
    """Return how much of the windows of a row is used before a hit, and their ends.

    If the clock was set back, the row may hold the next window. That counts as the
    current one, so that hits are counted in it and not in both.
    """
    ends_ms, minute_ends_ms = row.ends_ms, row.minute_ends_ms
    day = Counter.ends_ms.between(ends_ms, ends_ms + clock.MS_PER_DAY)
    minute = Counter.minute_ends_ms.between(
        minute_ends_ms, minute_ends_ms + clock.MS_PER_MINUTE
    )
    return (
        Case(None, [(day, Counter.used)], 0),
        Case(None, [(day, Counter.ends_ms)], ends_ms),
        Case(None, [(minute, Counter.minute_used)], 0),
        Case(None, [(minute, Counter.minute_ends_ms)], minute_ends_ms),
    )


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
