"""What each plan allows (specification section 8), as items of the limits library."""

import functools
from typing import NamedTuple, Self

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute

from petstore.models.callers import Caller
from petstore.models.projects import ENTERPRISE, Project


class Quota(NamedTuple):
    """The windows that hold at the same time, the shortest first."""

    minute: RateLimitItem
    day: RateLimitItem

    @classmethod
    @functools.lru_cache(1024)
    def of(cls, per_minute: int, per_day: int) -> Self:
        """Return a quota of this many requests a minute and a day."""
        return cls(RateLimitItemPerMinute(per_minute), RateLimitItemPerDay(per_day))


QUOTAS = {
    "free": Quota.of(60, 1_000),
    "pro": Quota.of(300, 10_000),
    "business": Quota.of(1_000, 100_000),
}
# On the dashboard.
FAILED_SIGN_INS = Quota.of(10, 100)  # of one address
SIGN_INS = Quota.of(60, 1_000)  # of one project, since every session has its own pages
PAGES = Quota.of(300, 20_000)  # of one session


def quota_of(holder: Caller | Project | None) -> Quota:
    """Return what the plan of the holder allows; without a holder, what Free allows."""
    if holder is None:
        return QUOTAS["free"]
    if holder.plan == ENTERPRISE:
        return Quota.of(holder.per_minute or 0, holder.per_day or 0)
    return QUOTAS[holder.plan]
