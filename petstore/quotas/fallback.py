"""What holds while the counter store is away: said once, back by itself."""

import asyncio
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from petstore import waiting
from petstore.events import emit
from petstore.quotas.plans import quota_of
from petstore.quotas.stores import CounterStorage
from petstore.quotas.stores.memory import MemoryCounters
from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally

# How often a store that is away is asked, by one task and not by requests, and how many
# answers in turn it takes to be used again.
PROBE_SECONDS = 0.2
PROBES_UNTIL_BACK = 3
# For so long it must have been back before that is said: one that comes and goes is one
# outage.
SETTLED_SECONDS = 1.0


class FallbackCounters:
    """The counter store, and counters of this process in its place during an outage."""

    def __init__(self, store: CounterStorage, workers: int) -> None:
        self._store = store
        self._memory = MemoryCounters(workers)
        self._away: set[str] = set()  # parts of the store
        self._is_closed = False

    def take(self, claim: Claim) -> Tally:
        """Count a request in both windows or in neither; see `CounterStorage`."""
        return self._call_store(self._store.take, claim) or self._memory.take(claim)

    def peek(self, claim: Claim) -> Tally:
        """The figures without counting; see `CounterStorage`."""
        return self._call_store(self._store.peek, claim) or self._memory.peek(claim)

    def history(self, subject: Subject, days: range) -> list[Day]:
        """What is still known of the days; see `CounterStorage`."""

        def call(claim: Claim) -> list[Day]:
            return self._store.history(claim.subject, days)

        known = self._call_store(call, Claim(subject, quota_of(None)))
        return self._memory.history(subject, days) if known is None else known

    @property
    def is_away(self) -> bool:
        """Whether any part of the store is away."""
        return bool(self._away)

    def close(self) -> None:
        """Ask no more, and end the connections."""
        self._is_closed = True
        self._store.close()

    def _call_store(self, call: Callable[[Claim], Any], claim: Claim) -> Any | None:
        if self._away and self._store.node_of(claim) in self._away:
            return None
        try:
            return call(claim)
        except Exception as error:
            if not self._store.is_outage(error):
                raise
            # Only now may it be known which part of the store should have answered.
            self._mark_away(self._store.node_of(claim), claim, error)
            return None

    def _mark_away(self, node: str, claim: Claim, error: Exception) -> None:
        if node in self._away:
            return
        self._away.add(node)
        if _is_first_to_see_it_away(node):
            emit("counters_lost", node=node or None, reason=str(error))
        waiting.start_in_background(self._probe_until_back, node, claim)

    def _probe_until_back(self, node: str, claim: Claim) -> None:
        """Ask until the part is back, or until another one has taken its place."""
        successes = 0
        try:
            while successes < PROBES_UNTIL_BACK and not self._is_closed:
                waiting.wait(asyncio.sleep(PROBE_SECONDS))
                successes = successes + 1 if self._store.is_reachable(claim) else 0
        finally:
            self._away.discard(node)
        waiting.wait(asyncio.sleep(SETTLED_SECONDS))
        if node not in self._away and _is_first_to_see_it_back(node):
            emit("counters_regained", node=node or None)


# Workers of one gunicorn have a directory in common. A file there, which one of them
# makes and one takes away, lets a host say once that a part is away, and once that it
# is back.


def _is_first_to_see_it_away(node: str) -> bool:
    file = _file_of(node)
    try:
        if file:
            file.touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        pass  # said more than once is better than never
    return True


def _is_first_to_see_it_back(node: str) -> bool:
    file = _file_of(node)
    with suppress(PermissionError):
        try:
            if file:
                file.unlink()
        except FileNotFoundError:
            return False
    return True


def _file_of(node: str) -> Path | None:
    directory = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    name = hashlib.sha256(node.encode()).hexdigest()
    return Path(directory, f"{name}.away") if directory else None
