"""Numbers and instants as people read them."""

from datetime import UTC, datetime

from petstore.clock import MS_PER_DAY, MS_PER_SECOND


def number(value: int) -> str:
    """1,234,567."""
    return f"{value:,}"


def date(instant: int) -> str:
    """The day of an instant, in UTC."""
    shown = _utc(instant)
    return f"{shown.day} {shown:%b %Y}"


def time(instant: int) -> str:
    """The minute of an instant, in UTC."""
    return f"{_utc(instant):%H:%M} UTC"


def day(day: int) -> str:
    """A day, counted from 1970-01-01, without its year."""
    shown = _utc(day * MS_PER_DAY)
    return f"{shown.day} {shown:%b}"


def duration(seconds: int) -> str:
    """How long to wait, in the two largest units."""
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = ((hours, "h"), (minutes, "min"), (seconds, "s"))
    return " ".join([f"{count} {unit}" for count, unit in parts if count][:2]) or "0 s"


def _utc(instant: int) -> datetime:
    return datetime.fromtimestamp(instant // MS_PER_SECOND, tz=UTC)
