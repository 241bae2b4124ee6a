"""Rows of one project that are inserted together while others of it are under way.

The rows of a project are committed one after the other, and each commit waits for the
disk. Requests that would wait for each other there share a transaction instead.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

from petstore import timeouts
from petstore.storage.engines.connection import PostgresConnection
from petstore.storage.engines.pool import Pool
from petstore.storage.engines.waiting import Crowded, seconds_left, wait_for_turn
from petstore.storage.queries import Written

Values = dict[str, Any]
Kind = tuple[Hashable, Written]  # of rows that are inserted together
# Rows that wait for a connection together, and the futures of their ids.
Batch = list[tuple[Values, asyncio.Future[int]]]


class Batches:
    """The inserts on the connections of a pool, by their key and their statement."""

    def __init__(
        self,
        pool: Pool,
        insert_all: Callable[
            [PostgresConnection, Written, list[Values], float], Awaitable[list[int]]
        ],
    ) -> None:
        self._pool = pool
        self._insert_all = insert_all
        self._under_way: Counter[Kind] = Counter()
        self._open: dict[Kind, Batch] = {}  # which requests may join

    async def insert(
        self,
        key: Hashable,
        written: Written,
        values: Values,
        deadline: float = math.inf,
    ) -> int:
        """Insert at most one row; return its id, 0 without a row.

        It is inserted alone unless others of the key are under way. A request whose
        deadline passes leaves the others, for which the batch goes on.
        """
        kind = (key, written)
        if not self._under_way[kind]:
            [row_id] = await self._run(kind, lambda: [values], deadline)
            return row_id
        batch = self._open.get(kind)
        if batch is None or len(batch) == timeouts.LIMITS.inserts:
            batch = self._begin(kind)
        place = self._pool.loop.create_future()
        batch.append((values, place))
        if deadline == math.inf:
            return await wait_for_turn(place)
        seconds = seconds_left(deadline)
        timer = self._pool.loop.call_later(seconds, _give_up, place)
        try:
            return await wait_for_turn(place)
        finally:
            timer.cancel()

    def _begin(self, kind: Kind) -> Batch:
        batch = self._open[kind] = []
        self._pool.start(self._insert_batch(kind, batch))
        return batch

    async def _insert_batch(self, kind: Kind, batch: Batch) -> None:
        def close() -> list[Values]:
            if self._open.get(kind) is batch:
                del self._open[kind]
            batch[:] = [each for each in batch if not each[1].done()]  # client gone
            return [values for values, _ in batch]

        try:
            ids = await self._run(kind, close, math.inf)
        except Exception as error:  # noqa: BLE001 (each request handles it)
            close()
            for _, place in batch:
                place.set_exception(error)
        else:
            for (_, place), row_id in zip(batch, ids, strict=True):
                if not place.done():
                    place.set_result(row_id)

    async def _run(
        self, kind: Kind, rows: Callable[[], list[Values]], deadline: float
    ) -> list[int]:
        """Insert the rows, which are asked for when there is a connection."""
        key, written = kind
        self._under_way[kind] += 1
        try:
            connection = await self._pool.acquire_to_write(key, deadline)
            try:
                return await self._insert_all(connection, written, rows(), deadline)
            finally:
                self._pool.release(connection)
        finally:
            self._under_way[kind] -= 1
            if not self._under_way[kind]:
                del self._under_way[kind]


def _give_up(place: asyncio.Future[int]) -> None:
    if not place.done():
        place.set_exception(Crowded("others keep the database busy"))
