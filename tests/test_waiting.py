"""Synchronous code that awaits while the event loop goes on."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from petstore import waiting
from petstore.waiting import run_in_thread, wait


def run(*functions: Callable[[], object]) -> None:
    """Start the functions in a loop, and return when all have ended."""

    async def main() -> None:
        tasks = [waiting.start(function) for function in functions]
        await asyncio.gather(*filter(None, tasks))

    asyncio.run(main())


async def later(seconds: float, result: str) -> str:
    await asyncio.sleep(seconds)
    return result


def test_others_go_on_while_one_waits():
    story = []
    run(
        lambda: story.append(wait(later(0.02, "slow"))),
        lambda: story.append(wait(later(0, "quick"))),
        lambda: story.append("at once"),
    )
    assert story == ["at once", "quick", "slow"]


def test_a_call_that_does_not_wait_needs_no_task():
    async def main() -> None:
        assert waiting.start(lambda: None) is None

    asyncio.run(main())


def test_what_is_raised_where_one_waits_is_raised_in_the_call():
    async def fail() -> None:
        raise ZeroDivisionError

    def call() -> None:
        with pytest.raises(ZeroDivisionError):
            wait(fail())
        story.append(wait(later(0, "went on")))

    story = []
    run(call)
    assert story == ["went on"]


def test_a_call_that_fails_takes_none_of_the_next_ones_with_it():
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


def test_many_calls_share_few_greenlets_and_mix_nothing_up():
    results = []

    def call(number: int) -> Callable[[], None]:
        return lambda: results.append((number, wait(later(0, str(number)))))

    for _ in range(3):
        run(*(call(number) for number in range(200)))
    assert sorted(results) == sorted((n, str(n)) for n in range(200) for _ in range(3))


def test_what_blocks_runs_in_a_thread_where_a_loop_must_go_on():
    threads = []
    run(lambda: threads.append(run_in_thread(threading.get_ident)))
    assert threads != [threading.get_ident()]
    assert run_in_thread(threading.get_ident) == threading.get_ident()


@pytest.mark.parametrize("awaitable", [later(0, "done"), later(0.01, "done")])
def test_outside_a_loop_waiting_is_waiting(awaitable: Awaitable[str]):
    assert not waiting.can_await()
    assert wait(awaitable) == "done"


def test_what_is_started_beside_holds_the_caller_up_nowhere():
    ended = threading.Event()
    waiting.start_in_background(ended.set)
    assert ended.wait(5)

    def call() -> None:
        waiting.start_in_background(story.append, "beside")
        story.append("first")
        wait(later(0.01, ""))

    story = []
    run(call)
    assert story == ["first", "beside"]
