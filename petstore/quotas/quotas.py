"""Quotas: what plans and pages allow in a minute and in a day."""

import functools
from typing import NamedTuple, Self

from limits import RateLimitItem, parse_many

from petstore.models.callers import Caller
from petstore.models.plans import FREE, PLANS
from petstore.models.projects import Project


class Quota(NamedTuple):
    """A limit of requests a minute and one of requests a day, which hold together."""

    minute: RateLimitItem
    day: RateLimitItem
    policy: str  # as in the header RateLimit-Policy

    @classmethod
    @functools.lru_cache(1024)
    def parse(cls, text: str) -> Self:
        """Return the quota in the notation of limits, as in `60/minute;1000/day`."""
        minute, day = parse_many(text)
        policies = (
            f'"{item.GRANULARITY.name}";q={item.amount};w={item.get_expiry()}'
            for item in (minute, day)
        )
        return cls(minute, day, ", ".join(policies))


# On the dashboard.
FAILED_SIGN_INS = Quota.parse("10/minute;100/day")  # of one address
PAGES = Quota.parse("300/minute;20000/day")  # of one session
# Of one project: each sign-in begins a session with a quota of its own.
SIGN_INS = Quota.parse("60/minute;1000/day")


def quota_of(holder: Caller | Project | None) -> Quota:
    """Return what the plan of the holder allows; without a holder, what Free allows."""
    if holder is None:
        return Quota.parse(PLANS[FREE].quota)
    text = PLANS[holder.plan].quota
    return Quota.parse(text or f"{holder.per_minute}/minute;{holder.per_day}/day")
