"""Counters in Redis: one script and one round trip a hit, by the server's clock."""

from collections.abc import Sequence
from typing import Any, ClassVar

from petstore import clock, waiting
from petstore.batches import SLOW_SECONDS, Batch
from petstore.clock import MS_PER_DAY
from petstore.quotas.stores.redis_clients import UNAVAILABLE, Cluster, client_at
from petstore.quotas.stores.redis_scripts import Script, ScriptCall, run_scripts
from petstore.quotas.stores.storage import STRIKE_PAUSE_MS, CounterStorage
from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally

_TAKE = Script.read("take.lua")
_HISTORY = Script.read("history.lua")
# Arguments of take.lua after the time.
_NO_LIMITS = ("", "")  # read without counting
_ONE_REQUEST = (1, 1, 0, 0, "", 0)  # count: a request is granted or refused


class RedisStorage(CounterStorage):
    """Counts exactly over all hosts: Redis runs one script at a time."""

    # The time in ms since 1970; "" for the clock of the server, which all hosts share.
    now_ms: ClassVar[int | str] = ""

    def __init__(self, url: str) -> None:
        self._client = client_at(url)
        self._batch = Batch(self._run_all, slow_seconds=SLOW_SECONDS)

    def is_outage(self, error: Exception) -> bool:
        """Return whether redis-py has raised the error."""
        return isinstance(error, UNAVAILABLE)

    def take(self, claim: Claim) -> Tally:
        """Count a request in both windows or in neither; see `CounterStorage`."""
        return self._tally(
            claim,
            claim.quota.minute.amount,
            claim.quota.day.amount,
            claim.banned_until_ms,
            claim.subject.kept_days,
            "" if claim.key_id is None else claim.key_id,
            STRIKE_PAUSE_MS,
        )

    def peek(self, claim: Claim) -> Tally:
        """Return the figures without counting; see `CounterStorage`."""
        return self._tally(claim, *_NO_LIMITS)

    def history(self, subject: Subject, days: range) -> list[Day]:
        """Return the figures of the days, in one round trip; see `CounterStorage`."""
        rows = self._run(_HISTORY, subject, (days.start, days.stop - 1))
        return [Day(*row) for row in rows]

    def is_reachable(self, claim: Claim) -> bool:
        """Return whether the node can be reached, and can count; see `CounterStorage`.

        `peek` would not do: a server without memory, or a replica, still answers reads.
        """
        key = _key(claim.subject, ":probe")
        call = ScriptCall(_TAKE, key, (self.now_ms, *_ONE_REQUEST))
        try:
            [reply] = waiting.wait(self._probe(call))
        except UNAVAILABLE:
            return False
        return not isinstance(reply, Exception)

    def node_of(self, claim: Claim) -> str:
        """Return the node of a cluster that counts the claim; see `CounterStorage`."""
        if isinstance(self._client, Cluster):
            return self._client.node_name(_key(claim.subject))
        return ""

    def close(self) -> None:
        """Close the connections."""
        waiting.wait(self._client.aclose())

    def _tally(self, claim: Claim, *arguments: int | str) -> Tally:
        is_granted, minute_served, served, now, strikes = self._run(
            _TAKE, claim.subject, (self.now_ms, *arguments)
        )
        return Tally(bool(is_granted), (minute_served, served), now, strikes)

    def _run(
        self, script: Script, subject: Subject, arguments: Sequence[int | str]
    ) -> list[Any]:
        call = ScriptCall(script, _key(subject), arguments)
        if not isinstance(self._client, Cluster):
            return self._batch.run(call)
        # There are no batches for a cluster: its nodes must not wait for each other.
        [reply] = self._run_all([call])
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def _probe(self, call: ScriptCall) -> list[Any]:
        if isinstance(self._client, Cluster):
            return await run_scripts(await self._client.find_node(call.key), [call])
        return await run_scripts(self._client, [call])

    def _run_all(self, calls: list[ScriptCall]) -> list[Any]:
        return waiting.wait(run_scripts(self._client, calls))


def _key(subject: Subject, suffix: str = "") -> str:
    today = clock.now_ms() // MS_PER_DAY
    return f"petstore:{{{subject.name}}}{suffix}:{today}"
