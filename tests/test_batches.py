"""Calls of requests that come together, carried out as one."""

import asyncio
from collections.abc import Callable
from itertools import chain

import pytest

from petstore import waiting
from petstore.batches import Batch


def run(*functions: Callable[[], object]) -> None:
    """Start the functions in a loop, and return when all have ended."""

    async def main() -> None:
        tasks = [waiting.start(function) for function in functions]
        await asyncio.gather(*filter(None, tasks))

    asyncio.run(main())


class Doubler:
    """Doubles numbers; a round trip for as many as come."""

    def __init__(self, trip: Callable[[], object] = lambda: None) -> None:
        self.batches: list[list[int]] = []
        self._trip = trip

    def __call__(self, numbers: list[int]) -> list[int | Exception]:
        self.batches.append(numbers)
        waiting.wait(asyncio.sleep(0.001))
        self._trip()
        return [2 * number if number else ZeroDivisionError() for number in numbers]


def test_items_that_come_together_are_carried_out_together():
    doubler, results = Doubler(), {}
    batch = Batch(doubler)
    calls = [lambda n=n: results.update({n: batch.run(n)}) for n in range(1, 5)]
    run(*calls)
    assert doubler.batches == [[1, 2, 3, 4]]
    assert results == {1: 2, 2: 4, 3: 6, 4: 8}


def test_what_comes_meanwhile_is_gathered_for_the_next_batch():
    doubler = Doubler(lambda: later.pop()() if later else None)
    batch = Batch(doubler)
    later = [lambda: [waiting.start_in_background(batch.run, n) for n in (2, 3)]]

    def call() -> None:
        batch.run(1)
        batch.run(4)

    run(call)
    assert doubler.batches[0] == [1]
    assert sorted(chain.from_iterable(doubler.batches)) == [1, 2, 3, 4]
    assert len(doubler.batches) < 4


def test_what_is_slow_keeps_nobody_waiting():
    doubler = Doubler()
    batch = Batch(doubler, slow_seconds=0)
    run(lambda: batch.run(1), lambda: batch.run(2))
    assert sorted(chain.from_iterable(doubler.batches)) == [1, 2]


def test_an_item_fails_alone():
    batch, doubled = Batch(Doubler()), []

    def fail() -> None:
        with pytest.raises(ZeroDivisionError):
            batch.run(0)

    run(fail, lambda: doubled.append(batch.run(1)))
    assert doubled == [2]


def test_a_batch_that_fails_fails_for_all_and_is_over():
    def break_down() -> None:
        raise ConnectionError

    batch = Batch(Doubler(break_down))

    def fail() -> None:
        with pytest.raises(ConnectionError):
            batch.run(1)

    run(fail, fail)
    run(fail)


def test_without_an_event_loop_an_item_is_carried_out_alone():
    doubler = Doubler()
    batch = Batch(doubler)
    assert batch.run(1) == 2
    with pytest.raises(ZeroDivisionError):
        batch.run(0)
    assert doubler.batches == [[1], [0]]
