"""Tests for rows that requests insert together; the real server is in faults/."""

import asyncio
from collections.abc import Coroutine, Hashable
from typing import Any

from petstore import waiting
from petstore.storage.engines.batches import Batches
from petstore.storage.engines.waiting import ClientGone


class BusyPool:
    """A pool with a connection for the first request, and for others after `free`."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.free = asyncio.Event()
        self._lent = 0
        self.tasks: list[asyncio.Task[None]] = []

    async def acquire_to_write(self, _key: Hashable, _deadline: float) -> str:
        self._lent += 1
        if self._lent > 1:
            await self.free.wait()
        return "connection"

    def release(self, connection: str) -> None:
        pass

    def start(self, coroutine: Coroutine[None, None, None]) -> None:
        self.tasks.append(self.loop.create_task(coroutine))


def test_row_of_a_client_that_has_gone_is_not_inserted_with_the_others():
    inserted: list[list[str]] = []

    async def run() -> list[Any]:
        pool = BusyPool()

        async def insert_all(
            _: object, __: str, rows: list[dict], ___: float
        ) -> list[int]:
            inserted.append([row["name"] for row in rows])
            await pool.free.wait()
            return [len(row["name"]) for row in rows]

        batches, tasks = Batches(pool, insert_all), []
        for name in ("a", "bb", "ccc", "dddd", "eeeee"):
            row = {"name": name}
            tasks.append(asyncio.create_task(batches.insert("key", "INSERT", row)))
            if name == "eeeee":  # its client has gone before it joins the others
                waiting.abandon(tasks[-1])
            await asyncio.sleep(0)
        waiting.abandon(tasks[1])
        await asyncio.wait([tasks[1]])
        pool.free.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, gone, *others, gone_before = asyncio.run(run())
    assert (first, others) == (1, [3, 4])
    assert type(gone) is type(gone_before) is ClientGone
    assert inserted == [["a"], ["ccc", "dddd"]]
