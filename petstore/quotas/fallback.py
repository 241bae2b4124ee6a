"""Counts in this process while the counter store is away.

An outage is logged once, and the store is used again as soon as it is back.
"""

import asyncio
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from petstore import waiting
from petstore.events import emit
from petstore.models import Refused
from petstore.quotas.plans import quota_of
from petstore.quotas.stores import CounterStorage
from petstore.quotas.stores.memory import MemoryCounters
from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally

# A store that is away is probed at this interval, by one task and not by requests. It
# is used again after so many successful probes in a row.
PROBE_SECONDS = 0.2
PROBES_UNTIL_BACK = 3
# A store must have been back for this time before that is logged, so that one that
# comes and goes is logged as one outage.
SETTLED_SECONDS = 2.0


class CountersLocked(Refused):
    """Others keep a counter locked, so that the request cannot be counted."""

    def __init__(self) -> None:
        super().__init__("The request could not be counted; please try again.")


class FallbackCounters:
    """The counter store, replaced by counters of this process during an outage."""

    def __init__(self, store: CounterStorage, workers: int) -> None:
        self._store = store
        self._memory = MemoryCounters(workers)
        # Names of nodes; "" for a store that is not a cluster.
        self._away: set[str] = set()
        self._is_closed = False

    def take(self, claim: Claim) -> Tally:
        """Count a request in both windows or in neither; see `CounterStorage`.

        Raises `CountersLocked`.
        """
        return self._call_store(self._store.take, claim) or self._memory.take(claim)

    def peek(self, claim: Claim) -> Tally:
        """Return the figures without counting; see `CounterStorage`."""
        tally: Tally | None = None
        with suppress(CountersLocked):
            tally = self._call_store(self._store.peek, claim)
        return tally or self._memory.peek(claim)

    def history(self, subject: Subject, days: range) -> list[Day]:
        """Return the figures of the days; see `CounterStorage`."""

        def call(claim: Claim) -> list[Day]:
            return self._store.history(claim.subject, days)

        with suppress(CountersLocked):
            return self._call_store(call, Claim(subject, quota_of(None))) or []
        return []

    @property
    def is_away(self) -> bool:
        """Whether any node of the store is away."""
        return bool(self._away)

    def log_return(self) -> None:
        """Log the end of an outage if the workers that saw it have ended since then.

        To be called when the store has answered. Nodes of a cluster are not covered.
        """
        file = _file_of("")
        if file and file.exists() and _is_first_to_see_it_back(""):
            emit("counters_regained", node=None)

    def close(self) -> None:
        """Stop probing, and close the connections of the store."""
        self._is_closed = True
        self._store.close()

    def _call_store(self, call: Callable[[Claim], Any], claim: Claim) -> Any | None:
        if self._away and self._store.node_of(claim) in self._away:
            return None
        try:
            return call(claim)
        except Exception as error:
            if self._store.is_locked(error):
                raise CountersLocked from error
            if not self._store.is_outage(error):
                raise
            # Ask for the node again: it may not have been known before the call.
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
        """Probe until the node, or another node in its place, answers."""
        successes = 0
        try:
            while successes < PROBES_UNTIL_BACK and not self._is_closed:
                waiting.wait(asyncio.sleep(PROBE_SECONDS))
                successes = successes + 1 if self._store.is_reachable(claim) else 0
        finally:
            self._away.discard(node)
        waiting.wait(asyncio.sleep(SETTLED_SECONDS))
        if self._is_closed or node in self._away:
            return
        if _is_first_to_see_it_back(node):
            emit("counters_regained", node=node or None)


# The workers of one gunicorn share a directory. The first worker that finds a node away
# creates a file there, and the first one that finds it back deletes the file. Each
# event is therefore logged once for a host.


def _is_first_to_see_it_away(node: str) -> bool:
    file = _file_of(node)
    try:
        if file:
            file.touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        pass  # logging it more than once is better than never
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
