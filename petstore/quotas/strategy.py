"""A strategy of limits: windows of the UTC minute and day, decided together.

The strategies of limits hit one window after the other, so that a request that the day
refuses has spent the minute; their keys contain the limit, so that a change of plan
begins anew; and their windows begin with the first hit, by the clock of the client.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from limits import RateLimitItem
from limits.storage import Storage
from limits.strategies import RateLimiter
from limits.util import WindowStats

from petstore.clock import MS_PER_SECOND


class Hit(NamedTuple):
    """The windows of one subject in which a request is counted."""

    subject: str  # what stands before its first slash is shared by related subjects
    limits: Sequence[RateLimitItem]
    prefix: str = ""  # of the names of its windows, in headers


class Ban(NamedTuple):
    """Until when the key of a request is banned, and whose refusals lead to a ban."""

    until_ms: int = 0
    key_id: int | None = None
    pause_ms: int = 1000  # after the previous refusal, before one counts


NO_BAN = Ban()


class Counts(NamedTuple):
    """The reply of a storage, by its own clock."""

    is_granted: bool
    used: Sequence[int]  # of each window, in the order of the hits
    now_ms: int
    strikes: int = 0  # refusals that count towards a ban; 0 if this one does not


class AlignedWindowSupport(ABC):
    """What a storage offers to `AlignedWindowRateLimiter`."""

    @abstractmethod
    def count(self, hits: Sequence[Hit], cost: int = 1, ban: Ban = NO_BAN) -> Counts:
        """Count a request in all windows of all hits, or in none.

        With a cost of 0 it looks, which writes and grants nothing. All subjects share
        the part before the first slash, and all requests have them in the same order;
        behind one that refuses, none is written. A refusal counts towards a ban of the
        key, if there is one.

        This is one atomic step: however many requests come at the same time, exactly as
        many are granted as the windows allow.
        """


class AlignedWindowRateLimiter(RateLimiter):
    """Fixed windows that begin with the UTC minute, hour or day."""

    storage: Storage

    def __init__(self, storage: Storage) -> None:
        if not isinstance(storage, AlignedWindowSupport):
            raise NotImplementedError(f"{type(storage)} cannot count windows together")
        super().__init__(storage)
        self.count = storage.count  # of all windows of a request together

    def hit(self, item: RateLimitItem, *identifiers: str, cost: int = 1) -> bool:
        return self.count([_hit(item, identifiers)], cost).is_granted

    def test(self, item: RateLimitItem, *identifiers: str, cost: int = 1) -> bool:
        return self.get_window_stats(item, *identifiers).remaining >= cost

    def get_window_stats(self, item: RateLimitItem, *identifiers: str) -> WindowStats:
        counts = self.count([_hit(item, identifiers)], cost=0)
        seconds = item.get_expiry()
        ends = (counts.now_ms // MS_PER_SECOND // seconds + 1) * seconds
        return WindowStats(ends, max(0, item.amount - counts.used[0]))

    def clear(self, item: RateLimitItem, *identifiers: str) -> None:
        self.storage.clear(_hit(item, identifiers).subject)


def _hit(item: RateLimitItem, identifiers: Sequence[str]) -> Hit:
    return Hit("/".join(identifiers), [item])
