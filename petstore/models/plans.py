"""The plans: what each allows, in the order in which they are offered."""

from typing import NamedTuple


class Terms(NamedTuple):
    """What a plan allows."""

    # In the notation of the limits library, as in `60/minute;1000/day`; empty if each
    # project on the plan has limits of its own.
    quota: str
    # Animals, orders and categories together; None if the operator may set a limit for
    # each project on the plan.
    rows: int | None
    has_domains: bool

    @property
    def per_minute(self) -> int | None:
        """The requests of a minute, which the quota begins with."""
        return int(self.quota.partition("/")[0]) if self.quota else None


FREE = "free"
PLANS = {
    FREE: Terms("60/minute;1000/day", 10_000, has_domains=False),
    "pro": Terms("300/minute;10000/day", 100_000, has_domains=True),
    "business": Terms("1000/minute;100000/day", 1_000_000, has_domains=True),
    "enterprise": Terms("", None, has_domains=True),
}
PLANS_WITH_DOMAINS = [name for name, terms in PLANS.items() if terms.has_domains]
