"""Combines calls of several requests into one."""

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from petstore import waiting

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Call(Generic[Item, Result]):
    """An item, and the outcome of processing it."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.outcome: Result | Exception
        # Resolves to None when there is an outcome, or to a batch, which this request
        # then has to run.
        self.future: asyncio.Future[list[Any] | None] = (
            asyncio.get_running_loop().create_future()
        )


class Batch(Generic[Item, Result]):
    """Collects the items of requests while the previous batch is processed.

    A round trip to a store costs about the same for one item as for ten. The function
    takes a list of items and returns the result of each, which may be an exception. The
    function may wait. Outside an event loop each item is processed alone.
    """

    def __init__(
        self,
        function: Callable[[list[Item]], Sequence[Result | Exception]],
        *,
        slow_seconds: float = math.inf,
    ) -> None:
        """Start a new batch if the previous one takes more than `slow_seconds`."""
        self._function = function
        self._slow_seconds = slow_seconds
        self._pending: list[_Call[Item, Result]] = []
        self._runs = 0  # batches that are scheduled or being processed
        self._started_at = 0.0

    def run(self, item: Item) -> Result:
        """Return the result of one item.

        Raises the exception that is the result, or that the function raises.
        """
        outcome: Result | Exception
        if waiting.can_await():
            outcome = self._enqueue(_Call(item))
        else:
            [outcome] = self._function([item])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _enqueue(self, call: _Call[Item, Result]) -> Result | Exception:
        if not self._is_busy():
            self._runs += 1
            # Requests that are read in this iteration of the loop join the batch.
            asyncio.get_running_loop().call_soon(self._start_next_batch)
        self._pending.append(call)
        if batch := waiting.wait(call.future):
            self._run_batch(batch)
            self._start_next_batch()
        return call.outcome

    def _is_busy(self) -> bool:
        now = asyncio.get_running_loop().time()
        return self._runs > 0 and now - self._started_at < self._slow_seconds

    def _run_batch(self, batch: list[_Call[Item, Result]]) -> None:
        self._started_at = asyncio.get_running_loop().time()
        outcomes: Sequence[Result | Exception]
        try:
            outcomes = self._function([call.item for call in batch])
        except Exception as error:  # noqa: BLE001 (each request raises it)
            # Pending items fail, too: they would otherwise have to wait as long again.
            batch, self._pending = batch + self._pending, []
            outcomes = [error] * len(batch)
        for call, outcome in zip(batch, outcomes, strict=True):
            call.outcome = outcome
            if not call.future.done():
                call.future.set_result(None)

    def _start_next_batch(self) -> None:
        """Have the first request with a pending item run a batch of all of them."""
        if self._pending:
            batch, self._pending = self._pending, []
            batch[0].future.set_result(batch)
        else:
            self._runs -= 1
