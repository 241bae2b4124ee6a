"""What each plan allows (specification section 8), as items of the limits library."""

import functools
from typing import NamedTuple, Self

from limits import RateLimitItemPerDay, RateLimitItemPerMinute

from petstore.models.callers import Caller
from petstore.models.projects import Project


class Quota(NamedTuple):
    """The two limits that hold at the same time."""

    minute: RateLimitItemPerMinute
    day: RateLimitItemPerDay

    @classmethod
    @functools.lru_cache(1024)
    def of(cls, per_minute: int, per_day: int) -> Self:
        """A quota of so many requests a minute and a day."""
        return cls(RateLimitItemPerMinute(per_minute), RateLimitItemPerDay(per_day))


QUOTAS = {
    "free": Quota.of(60, 1_000),
    "pro": Quota.of(300, 10_000),
    "business": Quota.of(1_000, 100_000),
}
# On the dashboard.
FAILED_SIGN_INS = Quota.of(10, 100)  # of one address
SIGN_INS = Quota.of(60, 1_000)  # of one project, so that sessions are no way around
PAGES = Quota.of(300, 20_000)  # of one session


def quota_of(holder: Caller | Project | None) -> Quota:
    """What a plan allows; Enterprise has its own numbers, a stranger those of Free."""
    if holder is None:
        return QUOTAS["free"]
    if holder.plan == "enterprise":
        return Quota.of(holder.per_minute, holder.per_day)
    return QUOTAS[holder.plan]
