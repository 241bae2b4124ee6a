"""What a counter store does.

The strategies of the limits library hit one window after the other, so a request that
the second one refuses has spent the first. Here both windows are decided in one atomic
step, by the clock of the store; limits gives the windows themselves.
"""

from abc import ABC, abstractmethod

from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally

# A refusal counts towards a ban when the key's previous one is this long ago.
STRIKE_PAUSE_MS = 1000


class CounterStorage(ABC):
    """Counters of a minute and a day for each subject."""

    @abstractmethod
    def is_outage(self, error: Exception) -> bool:
        """Whether the error says that the store is away, not that there is a bug."""

    @abstractmethod
    def take(self, claim: Claim) -> Tally:
        """Count a request in both windows, or, where one is used up, in neither."""

    @abstractmethod
    def look(self, claim: Claim) -> Tally:
        """The same figures without counting."""

    @abstractmethod
    def history(self, subject: Subject, days: range) -> list[Day]:
        """What is still known of the days (since 1970-01-01), in any order."""

    def answers(self, claim: Claim) -> bool:
        """Whether the part that counts the claim is there, asked after an outage."""
        try:
            self.look(claim)
        except Exception as error:
            if not self.is_outage(error):
                raise
            return False
        return True

    def part_of(self, _claim: Claim) -> str:
        """The part of the store that counts the claim; parts fail one by one."""
        return ""

    @abstractmethod
    def close(self) -> None:
        """End the connections that belong to the store alone."""
