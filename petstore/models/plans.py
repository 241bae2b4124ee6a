"""The plans: what each allows, in the order in which they are offered."""

from typing import NamedTuple


class Terms(NamedTuple):
    """What a plan allows."""

    # In the notation of the limits library, as in `60/minute;1000/day`; empty if each
    # project on the plan has limits of its own.
    quota: str
    has_domains: bool


FREE = "free"
PLANS = {
    FREE: Terms("60/minute;1000/day", has_domains=False),
    "pro": Terms("300/minute;10000/day", has_domains=True),
    "business": Terms("1000/minute;100000/day", has_domains=True),
    "enterprise": Terms("", has_domains=True),
}
PLANS_WITH_DOMAINS = [name for name, terms in PLANS.items() if terms.has_domains]
