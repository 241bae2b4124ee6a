"""The one place where a request is allowed or refused."""

from petstore.models.keys import Caller
from petstore.quotas.bans import BanRule
from petstore.quotas.fallback import FallbackCounters
from petstore.quotas.plans import quota_of
from petstore.quotas.stores import open_store
from petstore.quotas.subjects import subject_of
from petstore.quotas.windows import Claim, Decision, decide
from petstore.settings import Settings


class Limiter:
    """Decides on requests, by the plans, the bans and the counter store."""

    def __init__(self, settings: Settings) -> None:
        store = open_store(settings.redis_url)
        self._counters = FallbackCounters(store, settings.workers)
        self._bans = BanRule.of(settings)

    def take(self, caller: Caller | None, address: str | None) -> Decision:
        """Count a request of the caller, or of a stranger at the address."""
        claim = _claim(caller, address)
        tally = self._counters.take(claim)
        return decide(claim, tally, self._bans.banned_until_ms(claim, tally))

    def look(self, address: str | None) -> Decision:
        """The figures of an address, without counting."""
        claim = _claim(None, address)
        return decide(claim, self._counters.look(claim), banned_until_ms=0)

    def is_degraded(self) -> bool:
        """Whether requests are counted by each worker for itself at the moment."""
        self.look(None)
        return self._counters.is_away


def _claim(caller: Caller | None, address: str | None) -> Claim:
    subject, quota = subject_of(caller, address), quota_of(caller)
    if caller is None:
        return Claim(subject, quota)
    return Claim(subject, quota, caller.key_id, caller.banned_until_ms or 0)
