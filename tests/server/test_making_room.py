"""A worker with as many connections as it may have closes one for a new client."""

import asyncio
from dataclasses import dataclass

import pytest

from petstore.server.worker import EventLoopWorker
from petstore.timeouts import LIMITS
from tests.harness.loops import Loop, move_clock

CROWD = 1000


@dataclass(eq=False)
class Client:
    """A connection, which counts how often the worker looks at it."""

    is_reading: bool = False  # a response
    is_aborted: bool = False
    looks: int = 0

    @property
    def is_write_paused(self) -> bool:
        self.looks += 1
        return self.is_reading

    @property
    def is_waiting_for_client(self) -> bool:
        self.looks += 1
        return self.is_reading

    def abort(self) -> None:
        self.is_aborted = True


class FullWorker(EventLoopWorker):
    """A worker whose connections are all answering requests."""

    max_requests = CROWD**2

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._looks_again_at = 0.0
        self._request_count = 0
        self._connections, self._idle = {}, {}
        self.clients = [Client() for _ in range(CROWD)]
        for client in self.clients:
            self.add(client)
            self.count_request(client)

    def make_room(self) -> bool:
        return self._abort_oldest()

    @property
    def looks(self) -> int:
        return sum(client.looks for client in self.clients)


@pytest.fixture
def runner() -> asyncio.Runner:
    with asyncio.Runner(loop_factory=Loop) as runner:
        yield runner


def test_full_worker_seldom_looks_through_its_connections(runner: asyncio.Runner):
    async def play() -> None:
        worker = FullWorker()
        for _ in range(100):
            assert not worker.make_room()
            await move_clock(LIMITS.look_seconds / 100)
        assert worker.looks <= 2 * CROWD

    runner.run(play())


def test_idle_client_makes_room_at_once(runner: asyncio.Runner):
    async def play() -> None:
        worker = FullWorker()
        assert not worker.make_room()
        before, idle = worker.looks, worker.clients[-1]
        worker.mark_idle(idle)
        assert worker.make_room()
        assert idle.is_aborted
        assert worker.looks == before + 1

    runner.run(play())


def test_client_that_has_a_response_to_read_makes_room_last(runner: asyncio.Runner):
    async def play() -> None:
        worker = FullWorker()
        first, *_, last = worker.clients
        first.is_reading = True
        worker.mark_idle(first)
        worker.mark_idle(last)
        assert worker.make_room()
        assert (first.is_aborted, last.is_aborted) == (False, True)
        worker.count_request(last)
        assert worker.make_room()
        assert first.is_aborted

    runner.run(play())
