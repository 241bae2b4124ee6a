"""The one place where a request is allowed or refused."""

import functools

from petstore.clock import MS_PER_SECOND
from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.models.plans import Quota
from petstore.quotas.allowances import (
    FAILED_SIGN_INS,
    PAGES,
    RESERVE,
    SIGN_INS,
    SITE_FACTOR,
    STRANGERS,
)
from petstore.quotas.decisions import KEY_WINDOWS, Counts, Day, Decision, Hit
from petstore.quotas.fallback import FallbackCounters
from petstore.quotas.stores.database import DatabaseStorage
from petstore.quotas.stores.redis import RedisStorage
from petstore.quotas.subjects import (
    address_subjects,
    key_subject,
    pages_subject,
    project_subject,
    reserve_subject,
    sign_in_subject,
)
from petstore.settings import Settings


class Limiter:
    """Decides on requests, by the plans, the bans and the counter store."""

    def __init__(self, settings: Settings) -> None:
        url = settings.redis_url
        store = RedisStorage(url) if url else DatabaseStorage()
        self._counters = FallbackCounters(store, settings.workers)
        self._ban_after = settings.ban_after
        self._ban_ms = settings.ban_seconds * MS_PER_SECOND

    def count(self, caller: Caller | None, address: str | None) -> Decision:
        """Count a request of the caller, or of the client address without a caller."""
        if caller is None:
            return self._count_all(_hits("address", address, STRANGERS))
        has_limits = caller.key_per_minute is not None
        key = self._count_for_key(caller) if has_limits else None
        hit = _hit(caller, key)
        counts = self._counters.count(hit)
        return Decision.of(hit.quota, counts, self._ban_if_due(hit, counts), key)

    def peek(self, caller: Caller | None, address: str | None) -> Decision:
        """Return the figures of the project or the address, without counting."""
        if caller is None:
            hits = _hits("address", address, STRANGERS)
            return functools.reduce(Decision.joined, map(self._peek, hits))
        return self._peek(_hit(caller))

    def count_form(self, caller: Caller) -> Decision:
        """Count a form of the dashboard as a request of the project's plan.

        Neither a ban nor the limits of the key refuse it, and its refusal does not
        count towards a ban.
        """
        return self._count(Hit(project_subject(caller.project_id), caller.quota))

    def history(self, project_id: int, days: range) -> list[Day]:
        """Return what a project used on each of the days since 1970."""
        known = self._counters.history(project_subject(project_id), days)
        by_day = {day.day: day for day in known}
        return [by_day.get(day) or Day(day, 0, 0) for day in days]

    def count_failed_sign_in(self, address: str | None) -> Decision:
        """Count a failed sign-in; refused when too many came before it."""
        return self._count_all(_hits("sign-in", address, FAILED_SIGN_INS))

    def count_sign_in(self, caller: Caller) -> Decision:
        """Count a sign-in with a key that works."""
        decision = self._count(Hit(sign_in_subject(caller), SIGN_INS))
        return self._or_from_reserve(decision, caller)

    def count_page(self, caller: Caller, *, has_reserve: bool) -> Decision:
        """Count a request for a page, which may be one for the reserve of the key."""
        decision = self._count(Hit(pages_subject(caller), PAGES))
        return self._or_from_reserve(decision, caller) if has_reserve else decision

    def _count_for_key(self, caller: Caller) -> Decision:
        """Count a request by the limits of the key itself."""
        subject, quota = key_subject(caller.key_id), caller.key_quota
        hit = Hit(subject, quota, banned_until_ms=caller.banned_until_ms or 0)
        return Decision.of(quota, self._counters.count(hit), names=KEY_WINDOWS)

    def _or_from_reserve(self, decision: Decision, caller: Caller) -> Decision:
        """Count what the project's quota refuses for the key alone."""
        if decision.is_granted:
            return decision
        reserve = self._count(Hit(reserve_subject(caller), RESERVE))
        if reserve.is_granted:
            return reserve
        # A client is served as soon as one of the two has ended.
        return min(decision, reserve, key=lambda refusal: refusal.retry_at_ms)

    def _count_all(self, hits: list[Hit]) -> Decision:
        """Count one hit after the other, until one is refused.

        What a later one refuses has been counted for those before it, so the subject
        that most others share comes last: it counts only what is granted otherwise.
        """
        decision = self._count(hits[0])
        for hit in hits[1:]:
            count = self._count if decision.is_granted else self._peek
            decision = decision.joined(count(hit))
        return decision

    def _count(self, hit: Hit) -> Decision:
        return Decision.of(hit.quota, self._counters.count(hit))

    def _peek(self, hit: Hit) -> Decision:
        return Decision.of(hit.quota, self._counters.peek(hit), hit.banned_until_ms)

    @property
    def is_down(self) -> bool:
        """Whether the counter store is away, as far as is known."""
        return self._counters.is_down

    def store_answers(self) -> bool:
        """Send a request to the counter store; return whether it answered."""
        self.peek(None, None)
        return not self.is_down

    def warm_up(self) -> None:
        """Connect to the counter store before requests do."""
        if self.store_answers():
            self._counters.log_recovery()

    def close(self) -> None:
        """Close the connections of the counter store."""
        self._counters.close()

    def _ban_if_due(self, hit: Hit, counts: Counts) -> int:
        """Ban the key after enough strikes; return when its ban ends, 0 for none."""
        is_due = counts.strikes and counts.strikes % self._ban_after == 0
        if hit.key_id is None or not is_due:
            return hit.banned_until_ms
        until_ms = counts.now_ms + self._ban_ms
        Key.ban(hit.key_id, until_ms)
        return until_ms


def _hit(caller: Caller, key: Decision | None = None) -> Hit:
    """Return the hit for the project of a caller, after that for the key's own limits.

    What these refuse is counted as a refusal of the project, too, and takes nothing
    from its windows: refusals towards a ban are counted there.
    """
    subject, quota = project_subject(caller.project_id), caller.quota
    banned_until_ms = caller.banned_until_ms or 0
    if key is None:
        return Hit(subject, quota, caller.key_id, banned_until_ms)
    key_id = None if caller.is_for_web_page else caller.key_id  # None: never banned
    return Hit(subject, quota, key_id, banned_until_ms, is_refused=not key.is_granted)


def _hits(what: str, address: str | None, quota: Quota) -> list[Hit]:
    """Return the hits for what comes from an address, the narrowest network first."""
    address_subject, *site_subjects = address_subjects(what, address)
    sites = [Hit(subject, quota.times(SITE_FACTOR)) for subject in site_subjects]
    return [Hit(address_subject, quota), *sites]
