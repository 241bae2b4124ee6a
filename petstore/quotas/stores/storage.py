"""The interface of counter stores."""

from abc import ABC, abstractmethod

from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally

# A refusal counts towards a ban if the key's previous refusal is at least this old.
STRIKE_PAUSE_MS = 1000


class CounterStorage(ABC):
    """Counters for each subject, one for each window of its quota."""

    @abstractmethod
    def is_outage(self, error: Exception) -> bool:
        """Return whether the error means that the store is away; else it is a bug."""

    def is_locked(self, _error: Exception) -> bool:
        """Return whether others keep a counter locked, in a store that is available."""
        return False

    @abstractmethod
    def take(self, claim: Claim) -> Tally:
        """Count a request in all windows, or in none if one of them is used up.

        This is one atomic step: however many requests come at the same time, exactly as
        many are granted as the windows allow.
        """

    @abstractmethod
    def peek(self, claim: Claim) -> Tally:
        """Return the same figures without counting."""

    @abstractmethod
    def history(self, subject: Subject, days: range) -> list[Day]:
        """Return the figures of the days that are known, in any order.

        Days are counted from 1970-01-01.
        """

    def is_reachable(self, claim: Claim) -> bool:
        """Return whether the node that counts the claim can be reached."""
        try:
            self.peek(claim)
        except Exception as error:
            if self.is_locked(error):
                return True
            if self.is_outage(error):
                return False
            raise
        return True

    def node_of(self, _claim: Claim) -> str:
        """Return the name of the node that counts the claim; nodes fail separately.

        The name is empty if the store is not a cluster.
        """
        return ""

    @abstractmethod
    def close(self) -> None:
        """Close the connections that belong to the store alone."""
