"""What a counter store is: a storage of the limits library that knows two windows."""

from abc import abstractmethod

from limits.storage import Storage

from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally

# A refusal counts towards a ban when the key's previous one is this long ago.
STRIKE_PAUSE_MS = 1000


class CounterStorage(Storage):
    """A storage that decides both windows of a claim in one atomic step."""

    @abstractmethod
    def take(self, claim: Claim) -> Tally:
        """Count a request in both windows, or, where one is used up, in neither."""

    @abstractmethod
    def look(self, claim: Claim) -> Tally:
        """The same figures without counting."""

    @abstractmethod
    def history(self, subject: Subject, days: range) -> list[Day]:
        """What is still known of the days (since 1970-01-01), in any order."""

    def part_of(self, _claim: Claim) -> str:
        """The part of the store that counts the claim; parts fail one by one."""
        return ""
