"""The only clock, in milliseconds since the Unix epoch."""

import functools
import time
from datetime import UTC, datetime

MS_PER_SECOND = 1000
MS_PER_MINUTE = 60 * MS_PER_SECOND
MS_PER_DAY = 24 * 60 * MS_PER_MINUTE


def now_ms() -> int:
    """The present."""
    return time.time_ns() // 1_000_000


def instant_ms(year: int, month: int, day: int) -> int:
    """The first instant of a UTC day."""
    return int(datetime(year, month, day, tzinfo=UTC).timestamp()) * MS_PER_SECOND


def whole_seconds_until(end_ms: int, now: int) -> int:
    """Seconds to wait, rounded up, so that the end has come when they are over."""
    return max(0, -((now - end_ms) // MS_PER_SECOND))


def rfc3339(instant: int) -> str:
    """An instant as RFC 3339 section 5.6 writes it, to the millisecond, in UTC."""
    seconds, ms = divmod(instant, MS_PER_SECOND)
    return f"{_to_the_second(seconds)}.{ms:03}Z"


@functools.lru_cache(16)
def _to_the_second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%dT%H:%M:%S")
