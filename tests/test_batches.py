"""Batches: concurrent calls are combined into one."""

import asyncio
import time
from collections.abc import Callable
from itertools import chain

import pytest

from petstore import waiting
from petstore.batches import Batch
from tests.workers import run_requests


class Doubler:
    """A batch function that doubles numbers and records its batches."""

    def __init__(self, trip: Callable[[], object] = lambda: None) -> None:
        self.batches: list[list[int]] = []
        self._trip = trip

    def __call__(self, numbers: list[int]) -> list[int | Exception]:
        self.batches.append(numbers)
        waiting.wait(asyncio.sleep(0.001))
        self._trip()
        return [2 * number if number else ZeroDivisionError() for number in numbers]


def test_concurrent_items_share_a_batch():
    doubler, results = Doubler(), {}
    batch = Batch(doubler)
    calls = [lambda n=n: results.update({n: batch.run(n)}) for n in range(1, 5)]
    run_requests(*calls)
    assert doubler.batches == [[1, 2, 3, 4]]
    assert results == {1: 2, 2: 4, 3: 6, 4: 8}


def test_items_added_during_a_batch_share_the_next_one():
    doubler = Doubler(lambda: later.pop()() if later else None)
    batch = Batch(doubler)
    later = [lambda: [waiting.start_in_background(batch.run, n) for n in (2, 3)]]

    def call() -> None:
        batch.run(1)
        batch.run(4)

    run_requests(call)
    assert doubler.batches[0] == [1]
    assert sorted(chain.from_iterable(doubler.batches)) == [1, 2, 3, 4]
    assert len(doubler.batches) < 4


def test_item_does_not_wait_for_a_slow_batch_that_it_came_after():
    results: list[int] = []

    def double_after_the_next_batch(numbers: list[int]) -> list[int | Exception]:
        if numbers == [1]:
            waiting.start_in_background(lambda: results.append(batch.run(2)))
            deadline = time.monotonic() + 5
            while not results and time.monotonic() < deadline:
                waiting.wait(asyncio.sleep(0.001))
        return [2 * number for number in numbers]

    batch = Batch(double_after_the_next_batch, slow_seconds=0.005)
    run_requests(lambda: results.append(batch.run(1)))
    assert results == [4, 2]


def test_failed_item_does_not_fail_its_batch():
    batch, doubled = Batch(Doubler()), []

    def fail() -> None:
        with pytest.raises(ZeroDivisionError):
            batch.run(0)

    run_requests(fail, lambda: doubled.append(batch.run(1)))
    assert doubled == [2]


def test_batch_error_is_raised_for_each_item():
    def break_down() -> None:
        raise ConnectionError

    batch = Batch(Doubler(break_down))

    def fail() -> None:
        with pytest.raises(ConnectionError):
            batch.run(1)

    run_requests(fail, fail)
    run_requests(fail)


def test_items_are_run_alone_without_an_event_loop():
    doubler = Doubler()
    batch = Batch(doubler)
    assert batch.run(1) == 2
    with pytest.raises(ZeroDivisionError):
        batch.run(0)
    assert doubler.batches == [[1], [0]]
