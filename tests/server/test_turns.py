"""Requests start in turn, a few in each iteration of the event loop."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial

import pytest

from petstore.server.turns import Turns
from tests.harness.loops import Loop, go_on_until, settle

STARTS = 4
CROWDED_STARTS = 2


@pytest.fixture(autouse=True)
def limits(set_limits: Callable[..., None]) -> None:
    set_limits(starts=STARTS, crowded_starts=CROWDED_STARTS)


class Requests:
    """Requests that arrive, and the senders of those that have started."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self._turns = Turns()

    def arrive(self, *senders: str) -> None:
        for sender in senders:
            if self._turns.has_room():
                self.started.append(sender)
            else:
                self._turns.wait(sender, partial(self.started.append, sender))


def run(play: Callable[[Requests], Coroutine[None, None, None]]) -> None:
    async def main() -> None:
        await play(Requests())

    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(main())


def test_iteration_starts_a_few_requests_and_later_ones_the_rest():
    async def play(requests: Requests) -> None:
        requests.arrive(*["crowd"] * 10)
        for count in (*range(STARTS, 10, CROWDED_STARTS), 10):
            assert len(requests.started) == count
            await asyncio.sleep(0)

    run(play)


def test_sender_does_not_wait_behind_the_crowd_of_another():
    async def play(requests: Requests) -> None:
        requests.arrive(*["crowd"] * 100, "rival", "other")
        for _ in range(2):
            await asyncio.sleep(0)
        assert requests.started[STARTS:] == ["crowd", "rival", "other", "crowd"]
        await go_on_until(lambda: len(requests.started) == 102)

    run(play)


def test_next_iteration_has_room_again():
    async def play(requests: Requests) -> None:
        requests.arrive(*["first"] * STARTS)
        await settle()
        requests.arrive("second")
        assert requests.started[-1] == "second"

    run(play)
