"""Tests for the queue in which requests wait for a connection, or to write."""

import asyncio
import time
from collections.abc import Callable

import pytest

from petstore.storage.engines.pool import Busy, WaitQueue

CHECK_SECONDS = 0.01


@pytest.fixture(autouse=True)
def limits(set_limits: Callable[..., None]) -> None:
    """A short time limit."""
    set_limits(check_seconds=CHECK_SECONDS, stalled_checks=5)


def test_nobody_times_out_while_others_are_served():
    served = []

    async def use(queue: WaitQueue[str], request: int) -> None:
        item = await queue.get()
        await asyncio.sleep(2 * CHECK_SECONDS)
        served.append(request)
        queue.put(item)

    async def main() -> None:
        queue = WaitQueue(["connection"])
        await asyncio.gather(*(use(queue, request) for request in range(10)))

    asyncio.run(main())
    assert served == list(range(10))


def test_all_time_out_while_nobody_is_served():
    async def main() -> list[object]:
        queue: WaitQueue[str] = WaitQueue()
        requests = (queue.get() for _ in range(3))
        return await asyncio.gather(*requests, return_exceptions=True)

    assert [type(each) for each in asyncio.run(main())] == [Busy] * 3


def test_suspended_process_lets_nobody_time_out():
    async def main() -> str:
        queue: WaitQueue[str] = WaitQueue()
        request = asyncio.create_task(queue.get())
        await asyncio.sleep(0)
        time.sleep(10 * CHECK_SECONDS)  # noqa: ASYNC251 (all is suspended)
        await asyncio.sleep(0)
        queue.put("connection")
        return await request

    assert asyncio.run(main()) == "connection"


def test_item_of_a_request_that_timed_out_goes_to_the_next_one():
    async def main() -> str:
        queue: WaitQueue[str] = WaitQueue()
        with pytest.raises(Busy):
            await queue.get()
        queue.put("connection")
        return await queue.get()

    assert asyncio.run(main()) == "connection"
