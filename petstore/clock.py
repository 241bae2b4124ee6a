"""The only clock: the time in milliseconds since the Unix epoch, and durations."""

import functools
import time
from datetime import UTC, datetime

MS_PER_SECOND = 1000
MS_PER_MINUTE = 60 * MS_PER_SECOND
MS_PER_DAY = 24 * 60 * MS_PER_MINUTE

# Seconds of a clock that is never set back, for durations and deadlines.
monotonic = time.monotonic


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def instant_ms(year: int, month: int, day: int) -> int:
    return int(datetime(year, month, day, tzinfo=UTC).timestamp()) * MS_PER_SECOND


def rfc3339(instant: int) -> str:
    """Format an instant as in RFC 3339 section 5.6, to the millisecond, in UTC."""
    seconds, ms = divmod(instant, MS_PER_SECOND)
    return f"{_format_seconds(seconds)}.{ms:03}Z"


def utc_date(instant: int) -> str:
    """Format the UTC day of an instant, as in RFC 3339."""
    return rfc3339(instant)[:10]


@functools.lru_cache(16)
def _format_seconds(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%dT%H:%M:%S")
