"""Synchronous code that waits without blocking the event loop."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from petstore import waiting
from petstore.waiting import wait
from tests.workers import run_requests


async def later(seconds: float, result: str) -> str:
    await asyncio.sleep(seconds)
    return result


def test_other_calls_continue_while_one_waits():
    story = []
    run_requests(
        lambda: story.append(wait(later(0.02, "slow"))),
        lambda: story.append(wait(later(0, "quick"))),
        lambda: story.append("at once"),
    )
    assert story == ["at once", "quick", "slow"]


def test_call_that_does_not_wait_needs_no_task():
    async def main() -> None:
        assert waiting.start(lambda: None) is None

    asyncio.run(main())


def test_awaited_exception_is_raised_in_the_call():
    async def fail() -> None:
        raise ZeroDivisionError

    def call() -> None:
        with pytest.raises(ZeroDivisionError):
            wait(fail())
        story.append(wait(later(0, "went on")))

    story = []
    run_requests(call)
    assert story == ["went on"]


def test_failed_call_does_not_affect_later_calls():
    def fail() -> None:
        wait(later(0, ""))
        raise ZeroDivisionError

    async def main() -> None:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await waiting.start(fail)
        await waiting.start(lambda: story.append(wait(later(0, "went on"))))

    story = []
    asyncio.run(main())
    assert story == ["went on"]


def test_many_concurrent_calls_get_their_own_results():
    results = []

    def call(number: int) -> Callable[[], None]:
        return lambda: results.append((number, wait(later(0, str(number)))))

    for _ in range(3):
        run_requests(*(call(number) for number in range(200)))
    assert sorted(results) == sorted((n, str(n)) for n in range(200) for _ in range(3))


@pytest.mark.parametrize("awaitable", [later(0, "done"), later(0.01, "done")])
def test_wait_blocks_outside_an_event_loop(awaitable: Awaitable[str]):
    assert not waiting.can_await()
    assert wait(awaitable) == "done"


def test_background_call_does_not_block_the_caller():
    ended = threading.Event()
    waiting.start_in_background(ended.set)
    assert ended.wait(5)

    def call() -> None:
        waiting.start_in_background(story.append, "beside")
        story.append("first")
        wait(later(0.01, ""))

    story = []
    run_requests(call)
    assert story == ["first", "beside"]
