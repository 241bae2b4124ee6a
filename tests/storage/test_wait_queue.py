"""Tests for the queue in which requests wait for a connection, or to write."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from petstore import waiting
from petstore.storage.engines.pool import is_over
from petstore.storage.engines.waiting import Busy, ClientGone, Crowded, WaitQueue
from tests.harness.loops import Loop, move_clock, settle

CHECK_SECONDS = 0.05
STALLED, LONGEST = 5, 20  # checks
CROWD = 8_000


@pytest.fixture(autouse=True)
def limits(set_limits: Callable[..., None]) -> None:
    """A queue that is long enough for a crowd."""
    set_limits(
        check_seconds=CHECK_SECONDS,
        stalled_seconds=STALLED * CHECK_SECONDS,
        queue_seconds=LONGEST * CHECK_SECONDS,
        queue_length=CROWD,
    )


class Queue(WaitQueue[str]):
    """A queue that knows the requests of a test."""

    def __init__(self) -> None:
        super().__init__(is_over)
        self.requests: list[asyncio.Task[str]] = []

    async def enter(self, *names: Any, purpose: str = "") -> list[asyncio.Task[str]]:
        """Let requests wait, each with its names."""
        whose = (each if isinstance(each, tuple) else (each,) for each in names)
        tasks = [asyncio.create_task(self.wait(who, purpose)) for who in whose]
        self.requests += tasks
        await settle()
        return tasks

    async def serve_one(self, purpose: str = "") -> None:
        """Serve the first request with that purpose."""
        self.serve("connection", lambda known: known == purpose)
        await settle()


def run(play: Callable[[Queue], Coroutine[None, None, None]]) -> None:
    """Run a scene with a queue, in a loop whose clock stands still."""

    async def main() -> None:
        queue = Queue()
        await play(queue)
        queue.fail_all(Busy())
        await asyncio.gather(*queue.requests, return_exceptions=True)

    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(main())


async def check(times: int = 1) -> None:
    """Move the clock, by one check of a queue each time."""
    for _ in range(times):
        await move_clock(CHECK_SECONDS)


def outcome(task: asyncio.Task[str]) -> object:
    """Return what a request got, the type of its error, or None while it waits."""
    if not task.done():
        return None
    return type(task.exception()) if task.exception() else task.result()


def test_waiting_costs_nothing_for_each_that_waits():
    async def play(queue: Queue) -> None:
        crowd = await queue.enter(*range(CROWD))
        before = asyncio.get_running_loop().calls
        await check(STALLED - 1)
        assert asyncio.get_running_loop().calls - before < 30
        await check()
        assert set(map(outcome, crowd)) == {Crowded}

    run(play)


def test_nobody_times_out_while_others_are_served():
    async def play(queue: Queue) -> None:
        crowd = await queue.enter(*range(4))
        for request in crowd:
            await check(STALLED - 1)
            await queue.serve_one()
            assert outcome(request) == "connection"

    run(play)


def test_wait_has_an_absolute_deadline():
    async def play(queue: Queue) -> None:
        [locked] = await queue.enter("locked", purpose="locked")
        for number in range(LONGEST):
            assert outcome(locked) is None
            [other] = await queue.enter(number)
            await queue.serve_one()
            assert outcome(other) == "connection"
            await check()
        assert outcome(locked) == Crowded

    run(play)


def test_suspended_process_lets_nobody_time_out():
    async def play(queue: Queue) -> None:
        [request] = await queue.enter("project")
        await move_clock(100 * CHECK_SECONDS)
        await queue.serve_one()
        assert outcome(request) == "connection"

    run(play)


def test_full_queue_refuses_at_once():
    async def play(queue: Queue) -> None:
        await queue.enter(*["project"] * CROWD)
        with pytest.raises(Crowded):
            await queue.enter("project")
        assert len(queue) == CROWD

    run(play)


def test_full_queue_makes_room_for_somebody_with_fewer_requests():
    async def play(queue: Queue) -> None:
        crowd = await queue.enter(*["project"] * CROWD)
        [rival] = await queue.enter("rival")
        assert outcome(crowd[-1]) == Crowded
        await queue.serve_one()
        await queue.serve_one()
        assert outcome(rival) == "connection"

    run(play)


def test_nobody_waits_behind_a_crowd_of_one_key():
    async def play(queue: Queue) -> None:
        crowd = await queue.enter(*[("pet_crowd", "192.0.2.1")] * 100)
        [rival] = await queue.enter(("pet_rival", "192.0.2.1"))
        for _ in range(10):
            await queue.serve_one()
        assert outcome(rival) == "connection"
        assert [each.done() for each in crowd] == [True] * 9 + [False] * 91

    run(play)


def test_nobody_waits_behind_the_forged_keys_of_another_address():
    async def play(queue: Queue) -> None:
        await queue.enter(*((f"pet_{number}", "192.0.2.1") for number in range(100)))
        [rival] = await queue.enter(("pet_rival", "198.51.100.1"))
        await queue.serve_one()
        await queue.serve_one()
        assert outcome(rival) == "connection"

    run(play)


def test_crowd_takes_turns_with_somebody_who_comes_again_and_again():
    async def play(queue: Queue) -> None:
        crowd = await queue.enter(*["crowd"] * 10)
        for _ in crowd:
            await queue.enter("rival")
            await queue.serve_one()
            await queue.serve_one()
        assert set(map(outcome, crowd)) == {"connection"}

    run(play)


def test_request_whose_client_has_gone_waits_for_nothing():
    async def play(queue: Queue) -> None:
        gone, here = await queue.enter("gone", "here")
        waiting.abandon(gone)
        await queue.serve_one()
        assert list(map(outcome, (gone, here))) == [ClientGone, "connection"]
        assert len(queue) == 0

    run(play)


def test_request_whose_client_has_gone_enters_no_queue():
    async def play(queue: Queue) -> None:
        task = asyncio.create_task(queue.wait(("gone",)))
        waiting.abandon(task)
        await settle()
        assert outcome(task) == ClientGone

    run(play)


def test_what_calls_share_goes_on_when_one_of_them_is_abandoned():
    async def await_shared(shared: asyncio.Future[str]) -> str:
        return await shared

    async def play(_queue: Queue) -> None:
        shared = asyncio.get_running_loop().create_future()
        calls = [asyncio.create_task(await_shared(shared)) for _ in range(2)]
        await settle()
        waiting.abandon(calls[0])
        shared.set_result("done")
        await settle()
        assert list(map(outcome, calls)) == ["done"] * 2

    run(play)
