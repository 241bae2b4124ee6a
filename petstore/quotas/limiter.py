"""The one place where a request is allowed or refused."""

import asyncio
import time

from petstore import waiting
from petstore.clock import MS_PER_SECOND
from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.quotas.fallback import FallbackCounters
from petstore.quotas.plans import FAILED_SIGN_INS, PAGES, SIGN_INS, quota_of
from petstore.quotas.stores import open_store
from petstore.quotas.subjects import (
    failed_sign_in_subject,
    session_subject,
    sign_in_subject,
    subject_of,
)
from petstore.quotas.windows import Claim, Day, Decision, Tally, decide
from petstore.settings import Settings

WARM_UP_SECONDS = 0.25
RETRY_SECONDS = 0.05


class Limiter:
    """Decides on requests, by the plans, the bans and the counter store."""

    def __init__(self, settings: Settings) -> None:
        store = open_store(settings.redis_url)
        self._counters = FallbackCounters(store, settings.workers)
        self._ban_after = settings.ban_after
        self._ban_ms = settings.ban_seconds * MS_PER_SECOND

    def take(self, caller: Caller | None, address: str | None) -> Decision:
        """Count a request of the caller, or of the client address without a caller."""
        claim = _claim(caller, address)
        tally = self._counters.take(claim)
        return decide(claim, tally, self._banned_until_ms(claim, tally))

    def peek(self, caller: Caller | None, address: str | None) -> Decision:
        """Return the same figures, without counting."""
        claim = _claim(caller, address)
        return decide(claim, self._counters.peek(claim), claim.banned_until_ms)

    def history(self, caller: Caller, days: range) -> list[Day]:
        """Return what the caller's project used on each of the days since 1970."""
        known = self._counters.history(subject_of(caller, None), days)
        by_day = {day.day: day for day in known}
        return [by_day.get(day) or Day(day, 0, 0) for day in days]

    def take_failed_sign_in(self, address: str | None) -> Decision:
        """Count a failed sign-in; refused when too many came before it."""
        return self._take(Claim(failed_sign_in_subject(address), FAILED_SIGN_INS))

    def peek_failed_sign_ins(self, address: str | None) -> Decision:
        """Return how many more sign-ins of the address may fail."""
        claim = Claim(failed_sign_in_subject(address), FAILED_SIGN_INS)
        return decide(claim, self._counters.peek(claim), banned_until_ms=0)

    def take_sign_in(self, caller: Caller) -> Decision:
        """Count a sign-in with a key that works."""
        return self._take(Claim(sign_in_subject(caller), SIGN_INS))

    def take_page(self, session_digest: str) -> Decision:
        """Count a request for a page of the dashboard."""
        return self._take(Claim(session_subject(session_digest), PAGES))

    def _take(self, claim: Claim) -> Decision:
        return decide(claim, self._counters.take(claim), banned_until_ms=0)

    @property
    def is_away(self) -> bool:
        """Whether any node of the counter store is away."""
        return self._counters.is_away

    def is_degraded(self) -> bool:
        """Send a request to the counter store, then return `is_away`."""
        self.peek(None, None)
        return self.is_away

    def warm_up(self) -> None:
        """Connect to the counter store before requests do, unless it is away."""
        deadline = time.monotonic() + WARM_UP_SECONDS
        while self.is_degraded() and time.monotonic() < deadline:
            waiting.wait(asyncio.sleep(RETRY_SECONDS))
        if not self.is_away:
            self._counters.log_return()

    def close(self) -> None:
        """Close the connections of the counter store."""
        self._counters.close()

    def _banned_until_ms(self, claim: Claim, tally: Tally) -> int:
        """Return the end of the ban that holds or that begins now; 0 for none."""
        completes_count = tally.strikes and tally.strikes % self._ban_after == 0
        if claim.key_id is None or not completes_count:
            return claim.banned_until_ms
        until_ms = tally.now_ms + self._ban_ms
        Key.ban(claim.key_id, until_ms)
        return until_ms


def _claim(caller: Caller | None, address: str | None) -> Claim:
    subject, quota = subject_of(caller, address), quota_of(caller)
    if caller is None:
        return Claim(subject, quota)
    return Claim(subject, quota, caller.key_id, caller.banned_until_ms or 0)
