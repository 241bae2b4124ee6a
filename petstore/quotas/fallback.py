"""What holds while the counter store is away: said once, back by itself."""

import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from petstore.events import emit
from petstore.quotas import outages
from petstore.quotas.plans import quota_of
from petstore.quotas.stores import CounterStorage
from petstore.quotas.stores.memory import MemoryCounters
from petstore.quotas.subjects import Subject
from petstore.quotas.windows import Claim, Day, Tally

# How long the store is left alone after a failure, so that few requests wait for it.
RETRY_AFTER_SECONDS = 0.5


class Outage(NamedTuple):
    """A part of the store that did not answer, and a claim that it should count."""

    claim: Claim
    retry_at: float


class FallbackCounters:
    """The counter store, and counters of this process in its place during an outage."""

    def __init__(self, store: CounterStorage, address: str, workers: int) -> None:
        self._store = store
        self._address = address
        self._memory = MemoryCounters(workers)
        self._outages: dict[str, Outage] = {}
        self._lock = threading.Lock()

    def take(self, claim: Claim) -> Tally:
        """Count a request in both windows or in neither; see `CounterStorage`."""
        return self._ask(self._store.take, claim) or self._memory.take(claim)

    def look(self, claim: Claim) -> Tally:
        """The figures without counting; see `CounterStorage`."""
        return self._ask(self._store.look, claim) or self._memory.look(claim)

    def history(self, subject: Subject, days: range) -> list[Day]:
        """What is still known of the days; see `CounterStorage`."""

        def question(claim: Claim) -> list[Day]:
            return self._store.history(claim.subject, days)

        known = self._ask(question, Claim(subject, quota_of(None)))
        return self._memory.history(subject, days) if known is None else known

    @property
    def is_away(self) -> bool:
        """Whether any part of the store did not answer when it was asked last."""
        return bool(self._outages)

    def ask_again(self) -> None:
        """See whether the lost parts of the store are back."""
        for outage in list(self._outages.values()):
            self.look(outage.claim)

    def _ask(self, question: Callable[[Claim], Any], claim: Claim) -> Any | None:
        part = self._store.part_of(claim)
        if part in self._outages and not self._is_due(part):
            return None
        try:
            answer = question(claim)
        except self._store.base_exceptions as error:
            self._lose(part, claim, error)
            return None
        if self._outages or outages.is_on(self._name(part)):
            self._regain(part)
        return answer

    def _is_due(self, part: str) -> bool:
        """Whether to ask; of a lost part one request does, and nobody waits for it."""
        now = time.monotonic()
        with self._lock:
            outage = self._outages.get(part)
            if outage is None:
                return True
            if now >= outage.retry_at:
                retry_at = now + RETRY_AFTER_SECONDS
                self._outages[part] = outage._replace(retry_at=retry_at)
            return now >= outage.retry_at

    def _lose(self, part: str, claim: Claim, error: Exception) -> None:
        retry_at = time.monotonic() + RETRY_AFTER_SECONDS
        with self._lock:
            self._outages[part] = Outage(claim, retry_at)
            is_news = outages.note_failure(self._name(part))
        if is_news:
            emit("counters_lost", node=part or None, reason=str(error))

    def _regain(self, answered: str) -> None:
        with self._lock:
            self._outages.pop(answered, None)
            news = [answered] if outages.note_answer(self._name(answered)) else []
            for part, outage in list(self._outages.items()):
                # One to which nothing leads any more has been replaced by another.
                if self._store.part_of(outage.claim) != part:
                    del self._outages[part]
                    if outages.note_replacement(self._name(part)):
                        news.append(part)
        for part in news:
            emit("counters_regained", node=part or None)

    def _name(self, part: str) -> str:
        return f"{self._address} {part}"
