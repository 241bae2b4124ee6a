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
ASK_SECONDS = 0.2
ANSWERS_UNTIL_BACK = 3
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
        """Whether any part of the store is away."""
        return bool(self._away)

    def close(self) -> None:
        """Ask no more, and end the connections."""
        self._is_closed = True
        self._store.close()

    def _ask(self, question: Callable[[Claim], Any], claim: Claim) -> Any | None:
        if self._away and self._store.part_of(claim) in self._away:
            return None
        try:
            return question(claim)
        except Exception as error:
            if not self._store.is_outage(error):
                raise
            # Only now may it be known which part of the store should have answered.
            self._lose(self._store.part_of(claim), claim, error)
            return None

    def _lose(self, part: str, claim: Claim, error: Exception) -> None:
        if part in self._away:
            return
        self._away.add(part)
        if _is_first_to_lose(part):
            emit("counters_lost", node=part or None, reason=str(error))
        waiting.start_beside(self._regain, part, claim)

    def _regain(self, part: str, claim: Claim) -> None:
        """Ask until the part is back, or until another one has taken its place."""
        answers = 0
        try:
            while answers < ANSWERS_UNTIL_BACK and not self._is_closed:
                waiting.wait(asyncio.sleep(ASK_SECONDS))
                answers = answers + 1 if self._store.answers(claim) else 0
        finally:
            self._away.discard(part)
        waiting.wait(asyncio.sleep(SETTLED_SECONDS))
        if part not in self._away and _is_first_to_regain(part):
            emit("counters_regained", node=part or None)


# Workers of one gunicorn have a directory in common. A file there, which one of them
# makes and one takes away, lets a host say once that a part is away, and once that it
# is back.


def _is_first_to_lose(part: str) -> bool:
    file = _file_of(part)
    try:
        if file:
            file.touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        pass  # said more than once is better than never
    return True


def _is_first_to_regain(part: str) -> bool:
    file = _file_of(part)
    with suppress(PermissionError):
        try:
            if file:
                file.unlink()
        except FileNotFoundError:
            return False
    return True


def _file_of(part: str) -> Path | None:
    directory = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    name = hashlib.sha256(part.encode()).hexdigest()
    return Path(directory, f"{name}.away") if directory else None
