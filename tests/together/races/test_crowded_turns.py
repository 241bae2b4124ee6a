"""Turns: in their order, never more at once than may run, and none is lost."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from time import monotonic
from types import SimpleNamespace

import pytest

from petstore.extensions.dashboard import exclusively
from petstore.web import turns as turns_module
from petstore.web.turns import Turns
from tests.harness.waiting import wait_until

LONG = 20.0


@pytest.fixture(autouse=True)
def _database(monkeypatch: pytest.MonkeyPatch) -> None:
    """No database, whose connection would be given back before a wait."""
    monkeypatch.setattr(turns_module, "db", SimpleNamespace(close=bool))


def test_turns_come_in_the_order_of_those_who_wait(set_limits: Callable[..., None]):
    set_limits(waiting_requests=3, running_requests=1, few_requests=1)
    turns, came = Turns(), []

    def wait(number: int) -> None:
        assert turns.acquire("a", monotonic() + LONG)
        came.append(number)
        turns.release("a")

    assert turns.acquire("a", monotonic())
    with ThreadPoolExecutor() as pool:
        for number in range(3):
            pool.submit(wait, number)
            wait_until(lambda n=number: len(turns._waiting["a"]) == n + 1)
        assert not turns.acquire("a", monotonic() + LONG), "one more than may wait"
        assert turns.acquire("b", monotonic()), "another caller"
        turns.release("a")
    assert came == [0, 1, 2]


def test_stream_waits_for_its_turn_but_is_never_refused(
    set_limits: Callable[..., None],
):
    set_limits(waiting_requests=1)
    turns, went = Turns(), []

    def compute(number: int) -> None:
        with exclusively(turns, 1):
            went.append(number)

    with ThreadPoolExecutor() as pool, exclusively(turns, 1):
        pool.submit(compute, 1)
        wait_until(lambda: turns._waiting)
        compute(2)  # one more than may wait
        assert went == [2]
    assert went == [2, 1]


def test_turns_that_end_let_in_as_many_as_fit_when_a_crowd_has_gone(
    set_limits: Callable[..., None],
):
    set_limits(running_requests=4, few_requests=2, crowded_requests=6)
    turns, came = Turns(), []

    def wait(name: str) -> None:
        assert turns.acquire(name, monotonic() + LONG)
        came.append(name)

    for name in "aabbccdd":
        assert turns.acquire(name, monotonic())
    with ThreadPoolExecutor() as pool:
        for number, name in enumerate("aaab"):
            pool.submit(wait, name)
            wait_until(lambda n=number: sum(map(len, turns._waiting.values())) == n + 1)
        for left, order in zip("ccddba", ("", "", *accumulate("abaa")), strict=True):
            turns.release(left)
            wait_until(lambda told=order: "".join(came) == told)
    assert turns._running == {"a": 4, "b": 2}


def test_who_has_few_is_let_in_while_many_run(set_limits: Callable[..., None]):
    set_limits(waiting_requests=0, running_requests=4, few_requests=2)
    set_limits(crowded_requests=5)
    turns, now = Turns(), monotonic()
    assert [turns.acquire("a", now) for _ in range(5)] == [True] * 4 + [False]
    assert [turns.acquire("b", now) for _ in range(3)] == [True] * 2 + [False]
    for _ in range(4):
        turns.release("a")
    assert [turns.acquire("b", now) for _ in range(3)] == [True] * 2 + [False]
