"""Counters in Redis: one script, one round trip a hit, by the clock of the server."""

import asyncio
import functools
from collections.abc import Sequence
from contextlib import suppress

from redis.asyncio import RedisCluster
from redis.exceptions import ResponseError

from petstore import clock, waiting
from petstore.clock import MS_PER_DAY, MS_PER_MINUTE
from petstore.quotas.stores.redis_clients import (
    HIT_SECONDS,
    UNAVAILABLE,
    Hits,
    Script,
    client_at,
)
from petstore.quotas.stores.storage import STRIKE_PAUSE_MS, CounterStorage
from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally

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
    return Script.of(template.format(clock=CLOCK))


class RedisStorage(CounterStorage):
    """Exact over all hosts: Redis runs one script at a time."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = client_at(url)
        self._hits = Hits(self._client)

    def is_outage(self, error: Exception) -> bool:
        """Anything that redis-py raises, but for a script that fails."""
        is_bug = isinstance(error, ResponseError) and "script" in str(error)
        return isinstance(error, UNAVAILABLE) and not is_bug

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
        rows = self._run(_script(_HISTORY), _key(subject), first_and_last)
        return [Day(*row) for row in rows]

    def answers(self, claim: Claim) -> bool:
        """Whether the part that counts the claim is there; see `CounterStorage`.

        The client of a cluster that looks for a lost node drops its connections to the
        others, too. So another client looks, and takes its place when it has found it.
        """
        if not isinstance(self._client, RedisCluster):
            return super().answers(claim)
        other = RedisStorage(self._url)
        is_back = super(RedisStorage, other).answers(claim)
        if is_back:
            self._client, other._client = other._client, self._client
            self._hits, other._hits = other._hits, self._hits
        waiting.start_beside(other.close_later)
        return is_back

    def part_of(self, claim: Claim) -> str:
        """The node of a cluster that counts the claim; see `CounterStorage`."""
        if isinstance(self._client, RedisCluster):
            with suppress(*UNAVAILABLE, KeyError):
                return self._client.get_node_from_key(_key(claim.subject)).name
        return ""

    def close_later(self) -> None:
        """End the connections when no hit is under way any more."""
        waiting.wait(asyncio.sleep(HIT_SECONDS))
        self.close()

    def close(self) -> None:
        """End the connections."""
        waiting.wait(self._client.aclose())

    def _tally(self, script: Script, claim: Claim, *arguments: int | str) -> Tally:
        is_granted, minute_served, served, now, strikes = self._run(
            script, _key(claim.subject), arguments
        )
        return Tally(bool(is_granted), (minute_served, served), now, strikes)

    def _run(
        self, script: Script, key: str, arguments: Sequence[int | str]
    ) -> list[int]:
        return waiting.wait(self._hits.send(script, key, arguments))


def _key(subject: Subject) -> str:
    today = clock.now_ms() // MS_PER_DAY
    return f"petstore:{{{subject.name}}}:{today}"
