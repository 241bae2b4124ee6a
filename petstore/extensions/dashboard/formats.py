"""Formats of numbers and instants, as filters of the templates."""

from datetime import UTC, datetime

from flask import Flask

from petstore import clock
from petstore.clock import MS_PER_DAY, MS_PER_SECOND, rfc3339

# The words for people in place of a status of the API.
STATUS_WORDS = {
    "pending": "Reserved",
    "sold": "Adopted",
    "placed": "Open",
    "completed": "Adopted",
}


def init_app(app: Flask) -> None:
    app.jinja_env.globals["now_ms"] = lambda: clock.now_ms()
    for template_filter in (number, date, time, day, duration, status, rfc3339):
        app.add_template_filter(template_filter)


def number(value: int) -> str:
    """Format a number as 1,234,567."""
    return f"{value:,}"


def date(instant: int) -> str:
    """Format the UTC day of an instant, in milliseconds, as 5 Dec 2030."""
    utc = _utc(instant)
    return f"{utc.day} {utc:%b %Y}"


def time(instant: int) -> str:
    """Format the UTC minute of an instant, in milliseconds, as 12:00 UTC."""
    return f"{_utc(instant):%H:%M} UTC"


def day(day: int) -> str:
    """Format a day since 1970-01-01 as 5 Dec."""
    utc = _utc(day * MS_PER_DAY)
    return f"{utc.day} {utc:%b}"


def duration(seconds: int) -> str:
    """Format seconds in their two largest units, as 4 h 12 min."""
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = ((hours, "h"), (minutes, "min"), (seconds, "s"))
    return " ".join([f"{count} {unit}" for count, unit in parts if count][:2]) or "0 s"


def status(status: str) -> str:
    """Return a shelter's word for the status of an animal or an order."""
    return STATUS_WORDS.get(status, status.capitalize())


def _utc(instant: int) -> datetime:
    return datetime.fromtimestamp(instant // MS_PER_SECOND, tz=UTC)
