"""Counters in Redis: one script, one round trip a hit, by the clock of the server."""

import functools
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import limits.storage
from redis.backoff import NoBackoff
from redis.retry import Retry

from petstore import clock
from petstore.clock import MS_PER_DAY, MS_PER_MINUTE
from petstore.fibers import elsewhere
from petstore.quotas.stores.punctual import (
    STEP_SECONDS,
    Lines,
    PunctualConnection,
    PunctualTLSConnection,
    one_hit,
)
from petstore.quotas.stores.scripts import Script
from petstore.quotas.stores.storage import STRIKE_PAUSE_MS, CounterStorage
from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally

TIMEOUT_SECONDS = STEP_SECONDS
# A hit that was sent may have been counted: sending it again is no repair.
NO_RETRY = Retry(NoBackoff(), 0)
CLOCK = (
    "local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)"
)

# A subject has a hash for each day; all its keys share a hash tag, so a cluster's slot.
# KEYS[1] is today's by the clock of the caller, whom the server corrects.
_FIGURES = f"""
{{clock}}
local subject = string.match(KEYS[1], '^(.*):')
local day_key = subject .. ':' .. math.floor(now / {MS_PER_DAY})
local minute = math.floor(now / {MS_PER_MINUTE})
local seen = redis.call('HMGET', day_key, 'minute', 'minute_served', 'served')
local counted_at = now
if tonumber(seen[1]) == minute + 1 then -- the clock was set back: no minute comes twice
  minute = minute + 1
  counted_at = minute * {MS_PER_MINUTE}
end
local minute_served = tonumber(seen[1]) == minute and tonumber(seen[2]) or 0
local served = tonumber(seen[3]) or 0
"""

_LOOK = f"{_FIGURES} return {{{{0, minute_served, served, counted_at, 0}}}}"

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
  return {{{{1, minute_served + 1, served + 1, counted_at, 0}}}}
end
redis.call('HINCRBY', day_key, 'refused', 1)
if strike == '' then
  return {{{{0, minute_served, served, counted_at, 0}}}}
end
local key = subject .. ':key:' .. strike
local last = redis.call('HMGET', key, 'minute', 'strikes', 'refused_ms')
local strikes = tonumber(last[1]) == minute and tonumber(last[2]) or 0
local counts = now >= banned_until
  and last[3] and now - tonumber(last[3]) >= {STRIKE_PAUSE_MS}
if counts then strikes = strikes + 1 end
redis.call('HSET', key, 'minute', minute, 'strikes', strikes, 'refused_ms', now)
redis.call('PEXPIRE', key, (kept_days + 1) * {MS_PER_DAY})
return {{{{0, minute_served, served, counted_at, counts and strikes or 0}}}}
"""

_HISTORY = """
local subject = string.match(KEYS[1], '^(.*):')
local days = {{}}
for day = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  local seen = redis.call('HMGET', subject .. ':' .. day, 'served', 'refused')
  table.insert(days, {{day, tonumber(seen[1]) or 0, tonumber(seen[2]) or 0}})
end
return days
"""


@functools.cache
def _script(template: str) -> Script:
    return Script(template.format(clock=CLOCK))


class RedisCounters:
    """What counts in Redis, whichever way leads to the server that has the key."""

    key_prefix = "petstore"

    def __init__(self, uri: str, **options: Any) -> None:
        super().__init__(
            uri.removeprefix("petstore+"),
            key_prefix=self.key_prefix,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=NO_RETRY,
            protocol=2,  # the one that needs no greeting
            **options,
        )

    def take(self, claim: Claim) -> Tally:
        """Count a request in both windows or in neither; see `CounterStorage`."""
        return self._tally(
            _script(_TAKE),
            claim,
            claim.quota.minute.amount,
            claim.quota.day.amount,
            claim.banned_until_ms,
            claim.subject.kept_days,
            "" if claim.key_id is None else claim.key_id,
        )

    def look(self, claim: Claim) -> Tally:
        """The figures without counting; see `CounterStorage`."""
        return self._tally(_script(_LOOK), claim)

    def history(self, subject: Subject, days: range) -> list[Day]:
        """What is still known of the days, in one round trip."""
        first_and_last = (days.start, days.stop - 1)
        rows = self._run(_script(_HISTORY), self._key(subject), first_and_last)
        return [Day(*row) for row in rows]

    def _tally(self, script: Script, claim: Claim, *arguments: int | str) -> Tally:
        is_granted, *figures = self._run(script, self._key(claim.subject), arguments)
        return Tally(bool(is_granted), *figures)

    def _key(self, subject: Subject) -> str:
        today = clock.now_ms() // MS_PER_DAY
        return self.prefixed_key(f"{{{subject.name}}}:{today}")

    def _run(
        self, script: Script, key: str, arguments: Sequence[int | str]
    ) -> list[int]:
        return elsewhere(script.run, self.storage, key, arguments)


def credentials(uri: str) -> dict[str, str]:
    """User and password of an address, as they are meant."""
    parts = urlsplit(uri)
    sent = {"username": parts.username, "password": parts.password}
    return {name: unquote(value) for name, value in sent.items() if value}


class RedisStorage(RedisCounters, limits.storage.RedisStorage, CounterStorage):
    """Exact over all hosts: Redis runs one script at a time."""

    STORAGE_SCHEME = ["petstore+redis", "petstore+rediss"]

    def __init__(self, uri: str) -> None:
        is_encrypted = uri.startswith("petstore+rediss:")
        way = PunctualTLSConnection if is_encrypted else PunctualConnection
        super().__init__(uri, connection_class=way)
        self._lines = Lines(self.storage.connection_pool)

    def _run(
        self, script: Script, key: str, arguments: Sequence[int | str]
    ) -> list[int]:
        with one_hit():
            return script.run(self._lines, key, arguments)
