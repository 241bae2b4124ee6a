"""Quotas: what plans and pages allow in a minute and in a day."""

import functools
from typing import NamedTuple, Self

from limits import RateLimitItem, parse_many

from petstore.models.callers import Caller
from petstore.models.plans import FREE, PLANS
from petstore.models.projects import Project


class Quota(NamedTuple):
    """A limit of requests a minute and one of requests a day, which hold together."""

    limits: tuple[RateLimitItem, ...]  # the shortest window first
    amounts: tuple[int, ...]  # of the limits
    policy: str  # as in the header RateLimit-Policy

    @property
    def minute(self) -> RateLimitItem:
        """The limit of requests a minute."""
        return self.limits[0]

    @property
    def day(self) -> RateLimitItem:
        """The limit of requests a day."""
        return self.limits[-1]

    @classmethod
    @functools.lru_cache(1024)
    def parse(cls, text: str) -> Self:
        """Return the quota in the notation of limits, as in `60/minute;1000/day`."""
        limits = tuple(parse_many(text))
        policies = (
            f'"{limit.GRANULARITY.name}";q={limit.amount};w={limit.get_expiry()}'
            for limit in limits
        )
        amounts = tuple(limit.amount for limit in limits)
        return cls(limits, amounts, ", ".join(policies))

    def times(self, factor: int) -> Self:
        """Return the quota that allows so many times as much."""
        return self.parse(
            ";".join(
                f"{limit.amount * factor}/{limit.GRANULARITY.name}"
                for limit in self.limits
            )
        )


# Of one address (IPv6: its /64): requests without a valid key, and failed sign-ins.
STRANGERS = Quota.parse(PLANS[FREE].quota)
FAILED_SIGN_INS = Quota.parse("10/minute;100/day")
# An IPv6 /48, which has 65,536 /64, is allowed so many times as much.
SITE_FACTOR = 10

# On the dashboard.
PAGES = Quota.parse("120/minute;5000/day")  # of one project, over all its sessions
SIGN_INS = Quota.parse("60/minute;1000/day")  # of one project, over all its keys
# Of one key, for signing in and for the pages of keys, when its project has used up the
# quota: whoever has another key of the project cannot keep this one from revoking it.
RESERVE = Quota.parse("20/minute;60/day")


def quota_of(holder: Caller | Project) -> Quota:
    """Return what the plan of the holder allows."""
    text = PLANS[holder.plan].quota
    return Quota.parse(text or f"{holder.per_minute}/minute;{holder.per_day}/day")
