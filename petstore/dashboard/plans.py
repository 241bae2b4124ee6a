"""What each plan offers, for people who have reached the limits of theirs."""

from typing import NamedTuple

from petstore.models.callers import Caller
from petstore.models.plans import PLANS, Terms
from petstore.quotas.quotas import Quota, quota_of


class Offer(NamedTuple):
    """A plan; limits that are agreed upon are None."""

    plan: str
    quota: Quota | None
    has_domains: bool
    is_own: bool


def offers_to(caller: Caller) -> list[Offer]:
    """Return every plan, with the limits that the caller's has for it."""
    return [
        Offer(plan, _quota(plan, terms, caller), terms.has_domains, plan == caller.plan)
        for plan, terms in PLANS.items()
    ]


def _quota(plan: str, terms: Terms, caller: Caller) -> Quota | None:
    if plan == caller.plan:
        return quota_of(caller)
    return Quota.parse(terms.quota) if terms.quota else None
