"""Counters in Redis: one script, one round trip a hit, by the clock of the server."""

from typing import Any

import limits.storage
from redis.backoff import NoBackoff
from redis.retry import Retry

from petstore.clock import MS_PER_DAY, MS_PER_MINUTE
from petstore.quotas.stores.storage import STRIKE_PAUSE_MS, CounterStorage
from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally

TIMEOUT_SECONDS = 0.1
CLOCK = (
    "local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)"
)

# A subject has a hash for each day; KEYS share its hash tag and so a cluster's slot.
_FIGURES = f"""
{{clock}}
local day_key = KEYS[1] .. ':' .. math.floor(now / {MS_PER_DAY})
local minute = math.floor(now / {MS_PER_MINUTE})
local seen = redis.call('HMGET', day_key, 'minute', 'minute_served', 'served')
local minute_served = tonumber(seen[1]) == minute and tonumber(seen[2]) or 0
local served = tonumber(seen[3]) or 0
"""

_LOOK = f"{_FIGURES} return {{{{0, minute_served, served, now, 0}}}}"

_TAKE = f"""{_FIGURES}
local per_minute, per_day, banned_until, kept_days, strike =
  tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
if served == 0 then
  redis.call('HSET', day_key, 'served', 0)
  redis.call('PEXPIRE', day_key, (kept_days + 1) * {MS_PER_DAY})
end
if now >= banned_until and minute_served < per_minute and served < per_day then
  redis.call('HSET', day_key, 'minute', minute, 'minute_served', minute_served + 1,
    'served', served + 1)
  return {{{{1, minute_served + 1, served + 1, now, 0}}}}
end
redis.call('HINCRBY', day_key, 'refused', 1)
if strike == '' then
  return {{{{0, minute_served, served, now, 0}}}}
end
local key = KEYS[1] .. ':key:' .. strike
local last = redis.call('HMGET', key, 'minute', 'strikes', 'refused_ms')
local strikes = tonumber(last[1]) == minute and tonumber(last[2]) or 0
local counts = now >= banned_until
  and last[3] and now - tonumber(last[3]) >= {STRIKE_PAUSE_MS}
if counts then strikes = strikes + 1 end
redis.call('HSET', key, 'minute', minute, 'strikes', strikes, 'refused_ms', now)
redis.call('PEXPIRE', key, (kept_days + 1) * {MS_PER_DAY})
return {{{{0, minute_served, served, now, counts and strikes or 0}}}}
"""


class RedisStorage(limits.storage.RedisStorage, CounterStorage):
    """Exact over all hosts: Redis runs one script at a time."""

    STORAGE_SCHEME = ["petstore+redis", "petstore+rediss"]

    def __init__(self, uri: str, **options: Any) -> None:
        super().__init__(
            uri.removeprefix("petstore+"),
            key_prefix="petstore",
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            # A hit that was sent may have been counted: sending it again is no repair.
            retry=Retry(NoBackoff(), 0),
            **options,
        )
        self._take = self.storage.register_script(_TAKE.format(clock=CLOCK))
        self._look = self.storage.register_script(_LOOK.format(clock=CLOCK))

    def take(self, claim: Claim) -> Tally:
        """Count a request in both windows or in neither; see `CounterStorage`."""
        return self._run(
            self._take,
            claim,
            claim.quota.minute.amount,
            claim.quota.day.amount,
            claim.banned_until_ms,
            claim.subject.kept_days,
            "" if claim.key_id is None else claim.key_id,
        )

    def look(self, claim: Claim) -> Tally:
        """The figures without counting; see `CounterStorage`."""
        return self._run(self._look, claim)

    def history(self, subject: Subject, days: range) -> list[Day]:
        """What is still known of the days, in one round trip."""
        key = self.prefixed_key(f"{{{subject.name}}}")
        pipeline = self.storage.pipeline(transaction=False)
        for day in days:
            pipeline.hmget(f"{key}:{day}", "served", "refused")
        return [
            Day(day, int(served or 0), int(refused or 0))
            for day, (served, refused) in zip(days, pipeline.execute(), strict=True)
        ]

    def _run(self, script: Any, claim: Claim, *arguments: int | str) -> Tally:
        key = self.prefixed_key(f"{{{claim.subject.name}}}")
        is_granted, *figures = script(keys=[key], args=arguments)
        return Tally(bool(is_granted), *figures)
