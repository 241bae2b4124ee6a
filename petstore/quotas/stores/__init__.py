"""Where requests are counted: in Redis, in the database, or in this process."""

from typing import Protocol

from petstore.quotas.decisions import Counts, Day, Hit
from petstore.quotas.subjects import Subject

# A refusal counts towards a ban if the key's previous refusal is at least this old.
STRIKE_PAUSE_MS = 1000


class CounterStorage(Protocol):
    """Counters for each subject, one for the minute and one for the day."""

    def count(self, hit: Hit) -> Counts:
        """Count a request in both windows, or in neither if one of them is used up.

        A hit that is refused already is counted as a refusal, whatever is left.

        This is one atomic step: however many requests come at the same time, exactly as
        many are granted as the windows allow.
        """

    def peek(self, subject: Subject) -> Counts:
        """Return the same figures without counting."""

    def history(self, subject: Subject, days: range) -> list[Day]:
        """Return the figures of the days that are known, in any order.

        Days are counted from 1970-01-01.
        """

    def probe(self, subject: Subject) -> None:
        """Return without an error if hits of the subject can be counted."""

    def is_away(self, error: Exception) -> bool:
        """Return whether the store is away, by an error that the other methods raised.

        It connects again where that is needed.
        """

    def close(self) -> None:
        """Close the connections that belong to the store alone."""
