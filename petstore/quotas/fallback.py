"""What holds while the counter store is away: said once, back by itself."""

import time
from typing import Any

from petstore.events import emit
from petstore.quotas.stores import CounterStorage
from petstore.quotas.stores.memory import MemoryCounters
from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally

# How long the store is left alone after a failure, so that few requests wait for it.
RETRY_AFTER_SECONDS = 0.5


class FallbackCounters:
    """The counter store, and counters of this process in its place during an outage."""

    def __init__(self, store: CounterStorage, workers: int) -> None:
        self._store = store
        self._memory = MemoryCounters(workers)
        self.is_away = False
        self._retry_at = 0.0

    def take(self, claim: Claim) -> Tally:
        """Count a request in both windows or in neither; see `CounterStorage`."""
        return self._ask("take", claim)

    def look(self, claim: Claim) -> Tally:
        """The figures without counting; see `CounterStorage`."""
        return self._ask("look", claim)

    def history(self, subject: Subject, days: range) -> list[Day]:
        """What is still known of the days; see `CounterStorage`."""
        return self._ask("history", subject, days)

    def _ask(self, question: str, *arguments: Any) -> Any:
        if self._may_ask():
            try:
                return self._regained(getattr(self._store, question)(*arguments))
            except self._store.base_exceptions as error:
                self._lose(error)
        return getattr(self._memory, question)(*arguments)

    def _may_ask(self) -> bool:
        return not self.is_away or time.monotonic() >= self._retry_at

    def _lose(self, error: Exception) -> None:
        self._retry_at = time.monotonic() + RETRY_AFTER_SECONDS
        if not self.is_away:
            self.is_away = True
            emit("counters_lost", reason=str(error))

    def _regained(self, answer: Any) -> Any:
        if self.is_away:
            self.is_away = False
            emit("counters_regained")
        return answer
