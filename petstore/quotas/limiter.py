"""The one place where a request is allowed or refused."""

import asyncio
import time

from petstore import waiting
from petstore.models.callers import Caller
from petstore.quotas.bans import BanRule
from petstore.quotas.fallback import FallbackCounters
from petstore.quotas.plans import FAILED_SIGN_INS, PAGES, SIGN_INS, quota_of
from petstore.quotas.stores import open_store
from petstore.quotas.subjects import (
    project_sign_in_subject,
    session_subject,
    sign_in_subject,
    subject_of,
)
from petstore.quotas.windows import Claim, Day, Decision, decide
from petstore.settings import Settings

WARM_UP_SECONDS = 0.25
RETRY_SECONDS = 0.05


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

    def look(self, caller: Caller | None, address: str | None) -> Decision:
        """The same figures, without counting."""
        claim = _claim(caller, address)
        return decide(claim, self._counters.look(claim), claim.banned_until_ms)

    def history(self, caller: Caller, days: range) -> list[Day]:
        """What the caller's project used on each of the days, by the store's count."""
        known = self._counters.history(subject_of(caller, None), days)
        by_day = {day.day: day for day in known}
        return [by_day.get(day) or Day(day, 0, 0) for day in days]

    def take_failed_sign_in(self, address: str | None) -> Decision:
        """Count a sign-in that failed; refused when there were too many before it."""
        return self._take(Claim(sign_in_subject(address), FAILED_SIGN_INS))

    def look_at_failed_sign_ins(self, address: str | None) -> Decision:
        """How many more sign-ins of the address may fail."""
        claim = Claim(sign_in_subject(address), FAILED_SIGN_INS)
        return decide(claim, self._counters.look(claim), banned_until_ms=0)

    def take_sign_in(self, caller: Caller) -> Decision:
        """Count a sign-in with a key that works."""
        return self._take(Claim(project_sign_in_subject(caller), SIGN_INS))

    def take_page(self, session: str) -> Decision:
        """Count a request of a session, which is named by its digest."""
        return self._take(Claim(session_subject(session), PAGES))

    def _take(self, claim: Claim) -> Decision:
        return decide(claim, self._counters.take(claim), banned_until_ms=0)

    @property
    def is_away(self) -> bool:
        """Whether the counter store did not answer when it was asked last."""
        return self._counters.is_away

    def is_degraded(self) -> bool:
        """Whether requests are counted by each worker for itself at the moment."""
        self.look(None, None)
        return self.is_away

    def warm_up(self) -> None:
        """Reach the counter store before requests do, unless it is away."""
        gives_up_at = time.monotonic() + WARM_UP_SECONDS
        while self.is_degraded() and time.monotonic() < gives_up_at:
            waiting.wait(asyncio.sleep(RETRY_SECONDS))

    def close(self) -> None:
        """End what the counter store has opened."""
        self._counters.close()


def _claim(caller: Caller | None, address: str | None) -> Claim:
    subject, quota = subject_of(caller, address), quota_of(caller)
    if caller is None:
        return Claim(subject, quota)
    return Claim(subject, quota, caller.key_id, caller.banned_until_ms or 0)
