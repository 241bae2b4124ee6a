"""The one place where a request is allowed or refused."""

from collections.abc import Iterable, Sequence

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerHour
from peewee import chunked

from petstore import clock
from petstore.clock import MS_PER_SECOND
from petstore.models import RuleError
from petstore.models.callers import Caller
from petstore.models.grants import PUBLIC
from petstore.models.keys import Key
from petstore.models.plans import FREE, Quota, quota_of
from petstore.quotas.decisions import (
    FORM,
    KEY,
    Decision,
    address_subjects,
    forms_subject,
    key_subject,
    project_subject,
)
from petstore.quotas.fallback import Counters, CountersLocked
from petstore.quotas.strategy import Ban, Counts, Hit
from petstore.settings import Settings

KNOWN = 1_000  # keys and networks whose last figures a process keeps
# Of one address (IPv6: its /64): requests without a valid key, and failed sign-ins.
STRANGERS = quota_of(FREE)
FAILED_SIGN_INS = Quota.parse("10/minute;100/day")
# An IPv6 /48, which has 65,536 /64, is allowed so many times as much.
SITE_FACTOR = 10

# On the dashboard.
PAGES = Quota.parse("120/minute;5000/day")  # of one project, over all its sessions
SIGN_INS = Quota.parse("60/minute;1000/day")  # of one project, over all its keys
LONG_FORMS = RateLimitItemPerDay(50)  # of one project, with files above 64 KiB
NEW_KEYS = RateLimitItemPerHour(100)  # that a project issues and rotates
# Of one key, for signing in and for the pages of keys, when its project has used up the
# quota: whoever has another key of the project cannot keep this one from revoking it.
RESERVE = Quota.parse("20/minute;60/day")


class TooManyNewKeys(RuleError):
    text = (
        "The project has issued {} keys in this hour, which is the limit. Wait for the "
        "next hour."
    )


class TooManyNewDomains(RuleError):
    text = (
        "The project has verified {} new domains today, which is the limit. "
        "The next day begins at 00:00 UTC."
    )


class Limiter:
    """Decides on requests, by the plans, the bans and the counter storage."""

    def __init__(self, settings: Settings) -> None:
        self._counters = Counters(settings.redis_url, settings.workers)
        self._known: dict[int | str, Decision] = {}  # by key, or by network
        self._ban_after = settings.ban_after
        self._ban_ms = settings.ban_seconds * MS_PER_SECOND
        self._new_domains = RateLimitItemPerDay(settings.new_domains_per_day)

    def count(self, caller: Caller | None, address: str | None) -> Decision:
        """Count a request of the caller, or of the client address without a caller."""
        if caller is None:
            return self._count_address("address", address, STRANGERS)
        hits = _hits_of(caller)
        key_id = None if caller.role == PUBLIC else caller.key_id
        ban = Ban(caller.banned_until_ms or 0, key_id)
        counts = self._counters.count(hits, ban=ban)
        until_ms = self._ban_if_due(caller, counts)
        is_public = caller.role == PUBLIC
        decision = Decision.on(hits, counts, until_ms, is_public=is_public)
        self._remember({caller.key_id: decision})
        return decision

    def peek(self, caller: Caller | None, address: str | None) -> Decision:
        """Return the figures of the project or the address, without counting."""
        if caller is None:
            hits = _address_hits("address", address, STRANGERS)
            try:
                return self._of_address(hits, self._counters.count(hits, cost=0))
            except CountersLocked:
                return self._last_known(hits)
        hits = _hits_of(caller)[-1:]
        return Decision.on(hits, self._counters.count(hits, cost=0))

    def last_known(self, caller: Caller | None, address: str | None) -> Decision:
        """Return the figures of the caller or the address as this process knows them.

        They are those of its last request, or else of windows that have not begun.
        """
        if caller is None:
            return self._last_known(_address_hits("address", address, STRANGERS))
        now_ms = clock.now_ms()
        if known := self._known.get(caller.key_id):
            return known.renewed(now_ms)
        hits = _hits_of(caller)
        counts = Counts(True, [0] * 2 * len(hits), now_ms)
        return Decision.on(hits, counts, is_public=caller.role == PUBLIC)

    def count_form(self, caller: Caller) -> Decision:
        """Count a form of the dashboard for the project, and for a key with limits.

        No program uses up what the project has for forms. No ban refuses a form, and
        its refusal does not count towards one.
        """
        hits = [*_hits_of(caller)[:-1], _forms_of(caller)]
        return Decision.on(hits, self._counters.count(hits))

    def peek_forms(self, caller: Caller) -> Decision:
        """Return the figures of the project's forms, without counting."""
        hits = [_forms_of(caller)]
        return Decision.on(hits, self._counters.count(hits, cost=0))

    def count_failed_sign_in(self, address: str | None) -> Decision:
        """Count a failed sign-in; refused when too many came before it."""
        return self._count_address("sign-in", address, FAILED_SIGN_INS)

    def count_sign_in(self, caller: Caller) -> Decision:
        decision = self._count(f"sign-ins:{caller.project_id}", SIGN_INS)
        return self._or_from_reserve(decision, caller)

    def count_page(
        self, caller: Caller, *, has_reserve: bool = False, pages: int = 1
    ) -> Decision:
        """Count a request for a page, which may be one for the reserve of the key.

        One that costs more counts as several pages.
        """
        decision = self._count(f"pages:{caller.project_id}", PAGES, pages)
        return self._or_from_reserve(decision, caller) if has_reserve else decision

    def count_long_form(self, project_id: int) -> Decision:
        return self._count(f"long-forms:{project_id}", [LONG_FORMS])

    def count_new_key(self, project_id: int) -> None:
        """Count a key that is issued on the dashboard; raises `TooManyNewKeys`."""
        if not self._is_granted(f"new-keys:{project_id}", NEW_KEYS):
            raise TooManyNewKeys(NEW_KEYS.amount)

    def count_new_domain(self, project_id: int) -> None:
        """Count a domain that is verified for the first time.

        Raises `TooManyNewDomains`.
        """
        if not self._is_granted(f"new-domains:{project_id}", self._new_domains):
            raise TooManyNewDomains(self._new_domains.amount)

    def _last_known(self, hits: Sequence[Hit]) -> Decision:
        now_ms = clock.now_ms()
        new = Counts(True, [0, 0], now_ms)
        known = [self._known.get(h.subject) or Decision.on([h], new) for h in hits]
        return _tighter(each.renewed(now_ms) for each in known)

    def _of_address(self, hits: Sequence[Hit], counts: Counts) -> Decision:
        """Keep the figures of each network of an address; return the tighter ones."""
        of_each: dict[int | str, Decision] = {
            hit.subject: Decision.on([hit], counts._replace(used=used))
            for hit, used in zip(hits, chunked(counts.used, 2), strict=True)
        }
        self._remember(of_each)
        return _tighter(of_each.values())

    def _remember(self, decisions: dict[int | str, Decision]) -> None:
        if len(self._known) >= KNOWN:
            self._known.clear()
        self._known |= decisions

    def _or_from_reserve(self, decision: Decision, caller: Caller) -> Decision:
        """Count what the project's quota refuses for the key alone."""
        if decision.is_granted:
            return decision
        reserve = self._count(f"reserve:{caller.key_id}", RESERVE)
        if reserve.is_granted:
            return reserve
        # A client is served as soon as one of the two has ended.
        return min(decision, reserve, key=lambda refusal: refusal.retry_at_ms)

    def _count_address(self, what: str, address: str | None, quota: Quota) -> Decision:
        """Count for an address; what is refused writes nothing, as far as is known."""
        hits = _address_hits(what, address, quota)
        decision = self._last_known(hits)
        if not decision.tightest.remaining:
            decision = self._of_address(hits, self._counters.count(hits, cost=0))
        if decision.tightest.remaining:
            decision = self._of_address(hits, self._counters.count(hits))
        return decision

    def _count(
        self, subject: str, limits: Sequence[RateLimitItem], cost: int = 1
    ) -> Decision:
        hits = [Hit(subject, limits)]
        return Decision.on(hits, self._counters.count(hits, cost), cost=cost)

    def _is_granted(self, subject: str, limit: RateLimitItem) -> bool:
        return self._counters.count([Hit(subject, [limit])]).is_granted

    @property
    def is_down(self) -> bool:
        """Whether this process counts, since the counter storage is away."""
        return self._counters.is_down

    def store_answers(self) -> bool:
        """Look at the counter storage; return whether it answered."""
        self.peek(None, None)
        return self._counters.answers

    def _ban_if_due(self, caller: Caller, counts: Counts) -> int:
        """Ban the key after enough strikes; return when its ban ends, 0 for none."""
        if not counts.strikes or counts.strikes % self._ban_after:
            return caller.banned_until_ms or 0
        until_ms = counts.now_ms + self._ban_ms
        Key.ban(caller.key_id, until_ms)
        return until_ms


def _hits_of(caller: Caller) -> list[Hit]:
    """Return the hits for the caller: the limits of the key, if it has any, first."""
    project = Hit(project_subject(caller.project_id), caller.quota)
    if caller.key_per_minute is None:
        return [project]
    subject = key_subject(caller.project_id, caller.key_id)
    return [Hit(subject, caller.key_quota, KEY), project]


def _forms_of(caller: Caller) -> Hit:
    return Hit(forms_subject(caller.project_id), caller.quota, FORM)


def _address_hits(what: str, address: str | None, quota: Quota) -> list[Hit]:
    """Return the hits for what comes from an address: for IPv6 its /48 and /64.

    Where the /48 refuses, the /64 is not counted.
    """
    subject, *sites = address_subjects(what, address)
    of_sites = [Hit(site, quota.times(SITE_FACTOR)) for site in sites]
    return [*of_sites, Hit(subject, quota)]


def _tighter(decisions: Iterable[Decision]) -> Decision:
    """Return the decision on an address by the tighter of its networks.

    Of two that are used up, the one that lasts longer is the tighter.
    """
    return min(decisions, key=lambda d: (d.tightest.remaining, -d.retry_at_ms))
