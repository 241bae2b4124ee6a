"""The plans with their limits, in the order in which they are offered."""

from typing import NamedTuple, Self

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute

from petstore.models import RuleError


class LimitMissing(RuleError):
    """There must be a limit of requests per minute, and one per day."""


class Quota(NamedTuple):
    """How many requests are allowed in a UTC minute, and how many in a UTC day."""

    minute: RateLimitItem
    day: RateLimitItem

    @classmethod
    def of(cls, per_minute: int, per_day: int) -> Self:
        return cls(RateLimitItemPerMinute(per_minute), RateLimitItemPerDay(per_day))

    @property
    def per_minute(self) -> int:
        return self.minute.amount

    @property
    def per_day(self) -> int:
        return self.day.amount


class Terms(NamedTuple):
    quota: Quota | None  # None if each project on the plan has limits of its own
    # Animals, orders and categories together; None if the operator may set a limit for
    # each project on the plan.
    rows: int | None
    has_domains: bool


FREE = "free"
PLANS = {
    FREE: Terms(Quota.of(60, 1_000), 10_000, has_domains=False),
    "pro": Terms(Quota.of(300, 10_000), 100_000, has_domains=True),
    "business": Terms(Quota.of(1_000, 100_000), 1_000_000, has_domains=True),
    "enterprise": Terms(None, None, has_domains=True),
}


def quota_of(
    plan: str, per_minute: int | None = None, per_day: int | None = None
) -> Quota:
    """Return the quota of a plan, or these limits if it leaves them to its projects."""
    return PLANS[plan].quota or Quota.of(per_minute or 0, per_day or 0)
