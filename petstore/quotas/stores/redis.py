"""Counters in Redis: one script and one round trip a hit, by the server's clock."""

from functools import cached_property
from pathlib import Path
from typing import Any

from petstore import clock
from petstore.clock import MS_PER_DAY
from petstore.models.secrets import Secret
from petstore.quotas.decisions import Counts, Day, Hit
from petstore.quotas.stores import STRIKE_PAUSE_MS, CounterStorage
from petstore.quotas.stores.redis_clients import UNAVAILABLE, client_at
from petstore.quotas.subjects import Subject
from petstore.storage import db
from petstore.waiting import await_result

_FOLDER = Path(__file__).parent
ID_LENGTH = 12  # of 64 different characters
# Arguments of count.lua.
_NO_LIMITS = (0, 0, "", 0)
_NOTHING = (0, 0)  # as limits, so that the request is refused


class RedisStorage(CounterStorage):
    """Counts exactly over all hosts: Redis runs one script at a time."""

    count_script = (_FOLDER / "count.lua").read_text()
    history_script = (_FOLDER / "history.lua").read_text()

    def __init__(self, url: str) -> None:
        self._client = client_at(url, self.count_script, self.history_script)

    def count(self, hit: Hit) -> Counts:
        return self._run_count(
            hit.subject,
            hit.banned_until_ms,
            hit.subject.kept_days,
            "" if hit.key_id is None else hit.key_id,
            STRIKE_PAUSE_MS,
            *(_NOTHING if hit.is_refused else hit.quota),
        )

    def peek(self, subject: Subject) -> Counts:
        return self._run_count(subject)

    def history(self, subject: Subject, days: range) -> list[Day]:
        bounds = days.start, days.stop - 1
        rows = self._run(self.history_script, self._key(subject), *bounds)
        return [Day(*row) for row in rows]

    def probe(self, subject: Subject) -> None:
        # A server without memory, or a replica, still answers reads.
        self._run(self.count_script, self._key(subject, ":probe"), *_NO_LIMITS)

    def is_away(self, error: Exception) -> bool:
        db.recover(error)
        return isinstance(error, UNAVAILABLE) or db.is_outage(error)

    def close(self) -> None:
        await_result(self._client.close())

    def _run_count(self, subject: Subject, *arguments: int | str) -> Counts:
        return Counts(*self._run(self.count_script, self._key(subject), *arguments))

    def _run(self, script: str, key: str, *arguments: int | str) -> Any:
        return await_result(self._client.run(script, key, *arguments))

    def _key(self, subject: Subject, suffix: str = "") -> str:
        today = clock.now_ms() // MS_PER_DAY
        return f"{self._prefix}{{{subject.name}}}{suffix}:{today}"

    @cached_property
    def _prefix(self) -> str:
        """What all keys of this installation begin with.

        Several may share a Redis, so the database of each has an id. It is empty in
        databases from before there were ids, so that their counts go on.
        """
        installation = Secret.shared("installation")[:ID_LENGTH]
        return f"petstore:{installation}:" if installation else "petstore:"
