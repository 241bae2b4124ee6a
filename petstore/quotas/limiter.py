"""The one place where a request is allowed or refused."""

import ipaddress
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain

from limits import RateLimitItem
from peewee import chunked

from petstore import clock
from petstore.models.callers import Caller
from petstore.models.grants import PUBLIC
from petstore.models.keys import Key
from petstore.models.plans import FREE, PLANS, Quota, quota_of
from petstore.quotas.fallback import FallbackRateLimiter
from petstore.quotas.strategy import KEY, Ban, Decision, Window
from petstore.settings import Settings
from petstore.storage import Busy

KNOWN = 1_000  # keys and networks whose last figures a process keeps
STRANGERS = quota_of(FREE)  # of an address, in IPv6 of its /64, without a valid key
# An IPv6 /48 contains 65,536 /64. It is allowed this many times as much.
SITE_FACTOR = 10
IPV6_NETWORK_BITS = 64
IPV6_SITE_BITS = 48


class Limiter:
    """Decides on requests, by the plans, the bans and the counter storage."""

    def __init__(self, settings: Settings) -> None:
        self.strategy = FallbackRateLimiter(settings.redis_url, settings.workers)
        self._known: dict[str, Decision] = {}  # the latest, by key and by network
        self._ban_after = settings.ban_after
        self._ban_ms = settings.ban_seconds * clock.MS_PER_SECOND

    def count(self, caller: Caller | None, address: str | None) -> Decision:
        """Count a request of the caller, or of the client address without a caller."""
        if caller is None:
            return self.count_address("address", address, STRANGERS)
        is_public = caller.role == PUBLIC
        ban = Ban(caller.banned_until_ms or 0, None if is_public else caller.key_id)
        decision = self.strategy.hit_all(windows_of(caller), ban=ban)
        if is_public:
            decision = decision._replace(is_public=True)
        elif decision.strikes and not decision.strikes % self._ban_after:
            until_ms = decision.now_ms + self._ban_ms
            Key.ban(caller.key_id, until_ms)
            decision = decision._replace(banned_until_ms=until_ms)
        self._remember({_key(caller): decision})
        return decision

    def count_address(self, what: str, address: str | None, quota: Quota) -> Decision:
        """Count what an address has done, but write nothing if it will be refused."""
        networks = _windows_of_address(what, address, quota)
        decision = self._last_known(networks)
        if not decision.tightest.remaining:
            decision = self._count_networks(networks, cost=0)
        if decision.tightest.remaining:
            decision = self._count_networks(networks)
        return decision

    def peek(self, address: str | None) -> Decision:
        """Return the figures of an address without a valid key, without counting."""
        networks = _windows_of_address("address", address, STRANGERS)
        try:
            return self._count_networks(networks, cost=0)
        except Busy:
            return self._last_known(networks)

    def last_known(self, caller: Caller | None, address: str | None) -> Decision:
        """Return the figures of the caller or the address as this process knows them.

        They are those of its last request, or else of windows that have not begun.
        """
        if caller is None:
            return self._last_known(_windows_of_address("address", address, STRANGERS))
        known = self._known.get(_key(caller)) or Decision(True, windows_of(caller), 0)
        return known.renewed(clock.now_ms())._replace(is_public=caller.role == PUBLIC)

    def store_answers(self) -> bool | None:
        """Look at the counter storage; return whether it answered.

        Return None if it could not be asked, since the database is away.
        """
        self.strategy.test(STRANGERS.minute, "look")
        return self.strategy.answers

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


@lru_cache(KNOWN)
def windows_of(caller: Caller) -> list[Window]:
    """Return the windows of the project, and of a key with limits."""
    quota = PLANS[caller.plan].quota or caller.quota  # which most plans need not make
    found = windows(project_subject(caller), quota)
    if caller.key_per_minute is not None:
        found += windows(_key(caller), caller.key_quota, KEY)
    return found


def windows(
    subject: str, items: Iterable[RateLimitItem], prefix: str = ""
) -> list[Window]:
    return [Window.of(item, subject, prefix=prefix) for item in items]


def project_subject(caller: Caller) -> str:
    return f"{{project:{caller.project_id}}}"  # in Redis, the hash tag of its keys


def _key(caller: Caller) -> str:
    return f"{project_subject(caller)}/key:{caller.key_id}"


def _windows_of_address(what: str, address: str | None, quota: Quota) -> list[Window]:
    """Return the windows of an address: in IPv6 of its /48 and /64."""
    subject, *sites = address_subjects(what, address)
    larger = Quota.of(quota.per_minute * SITE_FACTOR, quota.per_day * SITE_FACTOR)
    of_sites = (windows(site, larger) for site in sites)
    return [*chain(*of_sites), *windows(subject, quota)]


def address_subjects(what: str, address: str | None) -> list[str]:
    """Return the subjects of an address: in IPv6 its /64 and /48."""
    try:
        ip = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:  # a Unix socket has no address; a proxy may send anything
        return [f"{{{what}:unknown}}"]
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
