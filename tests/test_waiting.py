"""Synchronous code that waits without blocking the event loop."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

import pytest

from petstore import waiting
from petstore.waiting import MustNotWait, await_result
from tests.harness.waiting import wait_until
from tests.harness.workers import both_callers, run_requests


async def later(turns: int, result: str) -> str:
    """Return the result when the event loop has had so many turns."""
    for _ in range(turns):
        await asyncio.sleep(0)
    return result


def test_other_calls_continue_while_one_waits():
    story = []
    run_requests(
        lambda: story.append(await_result(later(9, "slow"))),
        lambda: story.append(await_result(later(1, "quick"))),
        lambda: story.append("at once"),
    )
    assert story == ["at once", "quick", "slow"]


def test_call_that_does_not_wait_needs_no_task():
    async def main() -> None:
        assert waiting.start(lambda: None) is None

    asyncio.run(main())


def test_call_sees_no_context_variable_of_the_one_before():
    variable: ContextVar[str] = ContextVar("variable", default="unset")
    story = []

    def call() -> None:
        story.append(variable.get())
        variable.set("of the one before")

    async def main() -> None:
        for _ in range(3):
            waiting.start(call)

    asyncio.run(main())
    assert story == ["unset"] * 3


def test_awaited_exception_is_raised_in_the_call():
    async def fail() -> None:
        raise ZeroDivisionError

    def call() -> None:
        with pytest.raises(ZeroDivisionError):
            await_result(fail())
        story.append(await_result(later(1, "went on")))

    story = []
    run_requests(call)
    assert story == ["went on"]


@pytest.mark.parametrize("awaitable", [later(1, "done"), later(9, "done")])
def test_await_result_blocks_outside_an_event_loop(awaitable: Awaitable[str]):
    assert not waiting.can_await()
    assert await_result(awaitable) == "done"


@both_callers
def test_call_that_must_not_wait_is_refused_until_it_may_again(run: Callable):
    def call() -> None:
        waiting.forbid_waiting("never here")
        with pytest.raises(MustNotWait, match="never here"):
            await_result(later(1, "awaited"))
        waiting.allow_waiting()
        story.append(await_result(later(1, "done")))

    story = []
    run(call)
    assert story == ["done"]


def test_what_one_call_must_not_do_the_others_may():
    def forbid() -> None:
        waiting.forbid_waiting("never here")
        waiting.start_in_background(wait, "in the background")

    def wait(where: str) -> None:
        story.append(await_result(later(1, where)))

    story = []
    run_requests(forbid, lambda: wait("beside"))
    run_requests(lambda: wait("afterwards"))
    wait_until(lambda: len(story) == 3)
    assert set(story) == {"in the background", "beside", "afterwards"}


def test_event_loop_does_not_wait_for_itself():
    async def callback() -> None:
        with pytest.raises(MustNotWait, match="never waits for itself"):
            await_result(later(1, "never"))

    loop = waiting.event_loop()
    asyncio.run_coroutine_threadsafe(callback(), loop).result(timeout=5)


def test_background_call_does_not_block_the_caller():
    ended = threading.Event()
    waiting.start_in_background(ended.set)  # from another thread
    assert ended.wait(60)

    def call() -> None:
        waiting.start_in_background(story.append, "beside")
        story.append("first")

    story = []
    run_requests(call)
    wait_until(lambda: story == ["first", "beside"])
