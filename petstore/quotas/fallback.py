"""Counts in this process while the counter store is away.

An outage is logged once, and the store is used again as soon as it is back.
"""

import asyncio
import mmap
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from petstore import timeouts
from petstore.events import emit
from petstore.models import RuleError
from petstore.quotas.decisions import Counts, Day, Hit
from petstore.quotas.stores import CounterStorage
from petstore.quotas.stores.memory import MemoryCounters
from petstore.quotas.subjects import Subject
from petstore.storage import Busy
from petstore.waiting import await_result, start_in_background

# 1 after an outage was logged, until its end is logged. gunicorn.conf.py imports this
# module in the master, so that the workers of a host share the byte.
outage_logged = mmap.mmap(-1, 1)

Result = TypeVar("Result")


class CountersLocked(RuleError):
    """Others keep a counter locked, so that the request cannot be counted."""

    code = "service_unavailable"
    text = "The request could not be counted; please try again."


class FallbackCounters:
    """The counter store, replaced by counters of this process during an outage."""

    def __init__(self, store: CounterStorage, workers: int) -> None:
        self._store = store
        self._memory = MemoryCounters(workers)
        self._is_closed = False
        self.is_down = False  # whether the store is away

    def count(self, hit: Hit) -> Counts:
        """Count a request in both windows, or in neither; raises `CountersLocked`."""
        counts = self._use_store(hit.subject, self._store.count, hit)
        return counts or self._memory.count(hit)

    def peek(self, hit: Hit) -> Counts:
        """Return the figures without counting."""
        with suppress(CountersLocked):
            if counts := self._use_store(hit.subject, self._store.peek, hit.subject):
                return counts
        return self._memory.peek(hit)

    def history(self, subject: Subject, days: range) -> list[Day]:
        """Return the figures of the days that are known, in any order."""
        with suppress(CountersLocked):
            return self._use_store(subject, self._store.history, subject, days) or []
        return []

    def log_recovery(self) -> None:
        """Log the end of an outage, unless another worker has.

        To be called when the store has answered.
        """
        if outage_logged[0]:
            outage_logged[0] = 0
            emit("counters_restored")

    def close(self) -> None:
        """Stop probing, and close the connections of the store."""
        self._is_closed = True
        self._store.close()

    def _use_store(
        self, subject: Subject, call: Callable[..., Result], *arguments: object
    ) -> Result | None:
        """Return what the call returns; None while the store is away."""
        if self.is_down:
            return None
        try:
            return call(*arguments)
        except Exception as error:
            if self._store.is_away(error):
                self._begin_outage(subject, error)
                return None
            if isinstance(error, Busy):
                raise CountersLocked from error
            raise

    def _begin_outage(self, subject: Subject, reason: Exception) -> None:
        if self.is_down:  # another request was faster
            return
        self.is_down = True
        if not outage_logged[0]:
            outage_logged[0] = 1
            emit("counters_lost", reason=str(reason))
        start_in_background(self._probe_until_up, subject)

    def _probe_until_up(self, subject: Subject) -> None:
        """Probe until the store counts again what it could not count."""
        successes = 0
        try:
            while successes < timeouts.LIMITS.probes:
                await_result(asyncio.sleep(timeouts.LIMITS.probe_seconds))
                if self._is_closed:
                    return
                successes = successes + 1 if self._answers(subject) else 0
        finally:
            self.is_down = False
        await_result(asyncio.sleep(timeouts.LIMITS.settled_seconds))
        if not (self._is_closed or self.is_down):
            self.log_recovery()

    def _answers(self, subject: Subject) -> bool:
        try:
            self._store.probe(subject)
        except Exception as error:  # noqa: BLE001 (a request raises it again)
            return not self._store.is_away(error)
        return True
