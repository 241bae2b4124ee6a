"""Combines calls of several requests into one."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from petstore import waiting

Item = TypeVar("Item")
Result = TypeVar("Result")

# A busy event loop needs up to 20 ms until it reads a reply: that is not slow yet.
SLOW_SECONDS = 0.03


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
        slow_seconds: float | None = None,
    ) -> None:
        """Start the next batch after `slow_seconds`, if the previous one takes longer.

        Without `slow_seconds` the next batch always waits for the previous one.
        """
        self._function = function
        self._slow_seconds = slow_seconds
        self._pending: list[_Call[Item, Result]] = []
        # The batch that pending items wait for: [] if it has not been started.
        self._current: list[_Call[Item, Result]] | None = None

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
        self._pending.append(call)
        if self._current is None:
            self._current = []
            # Requests that are read in this iteration of the loop join the batch.
            asyncio.get_running_loop().call_soon(self._start_next_batch)
        if batch := waiting.wait(call.future):
            self._run_batch(batch)
        return call.outcome

    def _start_next_batch(self) -> None:
        """Have the first request with a pending item run a batch of all of them."""
        batch, self._pending = self._pending, []
        self._current = batch or None
        if batch:
            batch[0].future.set_result(batch)

    def _run_batch(self, batch: list[_Call[Item, Result]]) -> None:
        slow_timer = None
        if self._slow_seconds is not None:
            loop = asyncio.get_running_loop()
            slow_timer = loop.call_later(self._slow_seconds, self._start_next_batch)
        try:
            _settle(batch, self._function([call.item for call in batch]))
        except Exception as error:  # noqa: BLE001 (each request raises it)
            _settle(batch, [error] * len(batch))
            if self._current is batch:
                # Its pending items fail, too: they would have to wait as long again.
                _settle(self._pending, [error] * len(self._pending))
                self._pending = []
        if slow_timer:
            slow_timer.cancel()
        if self._current is batch:
            self._start_next_batch()


def _settle(
    batch: list[_Call[Item, Result]], outcomes: Sequence[Result | Exception]
) -> None:
    for call, outcome in zip(batch, outcomes, strict=True):
        call.outcome = outcome
        if not call.future.done():
            call.future.set_result(None)
