"""The one place where a request is allowed or refused."""

import ipaddress
from collections.abc import Iterable, Sequence
from itertools import chain

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerHour
from peewee import chunked

from petstore import clock
from petstore.models import RuleError
from petstore.models.callers import Caller
from petstore.models.grants import PUBLIC
from petstore.models.keys import Key
from petstore.models.plans import FREE, Quota, quota_of
from petstore.quotas.fallback import FallbackRateLimiter
from petstore.quotas.strategy import FORM, KEY, Ban, Decision, Window
from petstore.settings import Settings
from petstore.storage import Busy

Items = Sequence[RateLimitItem]
KNOWN = 1_000  # keys and networks whose last figures a process keeps
# Of one address (in IPv6 its /64): requests without a valid key, and failed sign-ins.
STRANGERS = quota_of(FREE)
FAILED_SIGN_INS = Quota.of(10, 100)
# An IPv6 /48 contains 65,536 /64. It is allowed this many times as much.
SITE_FACTOR = 10
IPV6_NETWORK_BITS = 64
IPV6_SITE_BITS = 48

# On the dashboard.
PAGES = Quota.of(120, 5_000)  # of one project, over all its sessions
SIGN_INS = Quota.of(60, 1_000)  # of one project, over all its keys
LONG_FORMS = RateLimitItemPerDay(50)  # of one project, with files above 64 KiB
NEW_KEYS = RateLimitItemPerHour(100)  # that a project issues and rotates
# Limits of single operations, of one project over all its keys, by the endpoint of each
# view that carries them out. The namespace of a limit names the operation.
OPERATIONS: dict[str | None, RateLimitItem] = {}
# Of one key, to sign in and to open the pages of keys after its project has used up its
# quota. So nobody can use up the quota to keep their own key from being revoked.
RESERVE = Quota.of(20, 60)


class TooManyNewKeys(RuleError):
    text = "The project has issued {} keys in this hour. Wait for the next hour."


class Limiter:
    """Decides on requests, by the plans, the bans and the counter storage."""

    def __init__(self, settings: Settings) -> None:
        self.strategy = FallbackRateLimiter(settings.redis_url, settings.workers)
        self._known: dict[str, Decision] = {}  # the latest, by key and by network
        self._ban_after = settings.ban_after
        self._ban_ms = settings.ban_seconds * clock.MS_PER_SECOND

    def count(
        self, caller: Caller | None, address: str | None, endpoint: str | None = None
    ) -> Decision:
        """Count a request of the caller, or of the client address without a caller.

        A refusal by the limit of an operation does not count towards a ban.
        """
        if caller is None:
            return self._count_address("address", address, STRANGERS)
        is_public, item = caller.role == PUBLIC, OPERATIONS.get(endpoint)
        is_spared = item and not self.strategy.test(item, _operation(caller, item))
        key_id = None if is_public or is_spared else caller.key_id
        ban = Ban(caller.banned_until_ms or 0, key_id)
        decision = self.strategy.hit_all(_windows_of(caller, endpoint), ban=ban)
        if is_public:
            decision = decision._replace(is_public=True)
        elif decision.strikes and not decision.strikes % self._ban_after:
            until_ms = decision.now_ms + self._ban_ms
            Key.ban(caller.key_id, until_ms)
            decision = decision._replace(banned_until_ms=until_ms)
        known = decision
        if item:  # which limits no other operation
            windows = [*decision.windows[:2], *decision.windows[3:]]
            known = decision._replace(windows=windows)
        self._remember({_key(caller): known})
        return decision

    def peek(self, caller: Caller | None, address: str | None) -> Decision:
        """Return the figures of the project or the address, without counting."""
        if caller:
            return self.strategy.hit_all(_windows_of(caller)[:2], cost=0)
        windows = _windows_of_address("address", address, STRANGERS)
        try:
            return self._count_networks(windows, cost=0)
        except Busy:
            return self._last_known(windows)

    def last_known(self, caller: Caller | None, address: str | None) -> Decision:
        """Return the figures of the caller or the address as this process knows them.

        They are those of its last request, or else of windows that have not begun.
        """
        if caller is None:
            return self._last_known(_windows_of_address("address", address, STRANGERS))
        known = self._known.get(_key(caller)) or Decision(True, _windows_of(caller), 0)
        return known.renewed(clock.now_ms())._replace(is_public=caller.role == PUBLIC)

    def count_form(self, caller: Caller, endpoint: str | None) -> Decision:
        """Count a form of the dashboard for the project, and for a key with limits.

        Programs do not use up this quota. A ban does not refuse a form, and a form that
        is refused does not count towards a ban.
        """
        return self.strategy.hit_all(
            _forms_of(caller) + _windows_of(caller, endpoint)[2:]
        )

    def peek_forms(self, caller: Caller) -> Decision:
        """Return the figures of the project's forms, without counting."""
        return self.strategy.hit_all(_forms_of(caller), cost=0)

    def count_failed_sign_in(self, address: str | None) -> Decision:
        """Count a failed sign-in, and refuse it if too many came before it."""
        return self._count_address("sign-in", address, FAILED_SIGN_INS)

    def count_sign_in(self, caller: Caller) -> Decision:
        decision = self._count(f"sign-ins:{caller.project_id}", SIGN_INS)
        return self._or_from_reserve(decision, caller)

    def count_page(
        self, caller: Caller, *, has_reserve: bool = False, pages: int = 1
    ) -> Decision:
        """Count a request for a page, or for one that costs as much as several.

        With `has_reserve`, the key has more when the project has used up its pages.
        """
        decision = self._count(f"pages:{caller.project_id}", PAGES, pages)
        return self._or_from_reserve(decision, caller) if has_reserve else decision

    def count_long_form(self, project_id: int) -> Decision:
        return self._count(f"long-forms:{project_id}", [LONG_FORMS])

    def count_new_key(self, project_id: int) -> None:
        """Count a key that is issued on the dashboard; raises `TooManyNewKeys`."""
        if not self.strategy.hit(NEW_KEYS, f"new-keys:{project_id}"):
            raise TooManyNewKeys(NEW_KEYS.amount)

    def store_answers(self) -> bool | None:
        """Look at the counter storage; return whether it answered.

        Return None if it could not be asked, since the database is away.
        """
        self.strategy.test(STRANGERS.minute, "look")
        return self.strategy.answers

    def _count(self, subject: str, items: Items, cost: int = 1) -> Decision:
        return self.strategy.hit_all(_windows(subject, items), cost)

    def _or_from_reserve(self, decision: Decision, caller: Caller) -> Decision:
        """Return the decision, or if it refuses, the decision of the key's reserve."""
        if decision.is_granted:
            return decision
        reserve = self._count(f"reserve:{caller.key_id}", RESERVE)
        if reserve.is_granted:
            return reserve
        # A client is served as soon as one of the two has ended.
        return min(decision, reserve, key=lambda refusal: refusal.retry_at_ms)

    def _count_address(self, what: str, address: str | None, quota: Quota) -> Decision:
        """Count a request of an address, but write nothing if it will be refused."""
        windows = _windows_of_address(what, address, quota)
        decision = self._last_known(windows)
        if not decision.tightest.remaining:
            decision = self._count_networks(windows, cost=0)
        if decision.tightest.remaining:
            decision = self._count_networks(windows)
        return decision

    def _count_networks(self, windows: Sequence[Window], cost: int = 1) -> Decision:
        """Return the figures of the tighter network of an address; remember each."""
        decision = self.strategy.hit_all(windows, cost)
        networks = [decision._replace(windows=w) for w in chunked(decision.windows, 2)]
        self._remember({each.windows[0].key: each for each in networks})
        return _tighter(networks)

    def _last_known(self, windows: Sequence[Window]) -> Decision:
        known = [
            self._known.get(network[0].key) or Decision(True, network, 0)
            for network in chunked(windows, 2)
        ]
        return _tighter(each.renewed(clock.now_ms()) for each in known)

    def _remember(self, decisions: dict[str, Decision]) -> None:
        if len(self._known) >= KNOWN:
            self._known.clear()
        self._known |= decisions


def _windows_of(caller: Caller, endpoint: str | None = None) -> list[Window]:
    """Return the windows of the project, of the operation and of a key with limits."""
    windows = _windows(_project(caller), caller.quota)
    if item := OPERATIONS.get(endpoint):
        windows += _windows(_operation(caller, item), [item], item.namespace)
    if caller.key_per_minute is not None:
        windows += _windows(_key(caller), caller.key_quota, KEY)
    return windows


def _forms_of(caller: Caller) -> list[Window]:
    return _windows(f"{_project(caller)}/forms", caller.quota, FORM)


def _windows(subject: str, items: Items, prefix: str = "") -> list[Window]:
    return [Window.of(item, subject, prefix=prefix) for item in items]


def _project(caller: Caller) -> str:
    return f"{{project:{caller.project_id}}}"  # in Redis, the hash tag of its keys


def _operation(caller: Caller, item: RateLimitItem) -> str:
    return f"{_project(caller)}/operation:{item.namespace}"


def _key(caller: Caller) -> str:
    return f"{_project(caller)}/key:{caller.key_id}"


def _windows_of_address(what: str, address: str | None, quota: Quota) -> list[Window]:
    """Return the windows of an address: in IPv6 of its /48 and /64."""
    subject, *sites = address_subjects(what, address)
    larger = Quota.of(quota.per_minute * SITE_FACTOR, quota.per_day * SITE_FACTOR)
    of_sites = (_windows(site, larger) for site in sites)
    return [*chain(*of_sites), *_windows(subject, quota)]


def address_subjects(what: str, address: str | None) -> list[str]:
    """Return the subjects of an address: in IPv6 its /64 and /48."""
    try:
        ip = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:  # a Unix socket has no address; a proxy may send anything
        return [f"{{{what}:unknown}}"]
    ip = getattr(ip, "ipv4_mapped", None) or ip
    if ip.version == 4:
        return [f"{{{what}:{ip}}}"]
    network, site = (
        ipaddress.ip_network((ip, bits), strict=False).network_address
        for bits in (IPV6_NETWORK_BITS, IPV6_SITE_BITS)
    )
    return [f"{{{what}:{site}}}/{network}", f"{{{what}:{site}}}"]


def _tighter(decisions: Iterable[Decision]) -> Decision:
    """Return the decision on an address by the tighter of its networks.

    If both are used up, the tighter one is used up for longer.
    """
    return min(decisions, key=lambda d: (d.tightest.remaining, -d.retry_at_ms))
