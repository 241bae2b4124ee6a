"""Rows of one project that are inserted together while others of it are under way.

The rows of a project are committed one after the other, and each commit waits for the
disk. Requests that would wait for each other there share a transaction instead.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, NamedTuple

from petstore.server import timeouts
from petstore.storage.engines.connection import Connection
from petstore.storage.engines.pool import Pool

Values = dict[str, Any]


class Batch(NamedTuple):
    """Rows that wait for a connection together, and the task that inserts them."""

    rows: list[Values]
    inserting: asyncio.Task[list[int]]


class Batches:
    """The inserts on the connections of a pool, by their key and their statement."""

    def __init__(
        self,
        pool: Pool,
        insert_all: Callable[[Connection, str, list[Values]], Awaitable[list[int]]],
    ) -> None:
        self._pool = pool
        self._insert_all = insert_all
        self._under_way: Counter[tuple[Hashable, str]] = Counter()
        self._open: dict[tuple[Hashable, str], Batch] = {}  # which requests may join

    async def insert(self, key: Hashable, sql: str, values: Values) -> int:
        """Insert at most one row; return its id, 0 without a row.

        It is inserted alone unless others of the key are under way.
        """
        if not self._under_way[key, sql]:
            [row_id] = await self._run(key, sql, [values])
            return row_id
        batch = self._open.get((key, sql))
        if batch is None or len(batch.rows) == timeouts.LIMITS.inserts:
            rows: list[Values] = []
            inserting = self._pool.loop.create_task(self._run(key, sql, rows))
            batch = self._open[key, sql] = Batch(rows, inserting)
        number = len(batch.rows)
        batch.rows.append(values)
        ids = await asyncio.shield(batch.inserting)  # the others go on in any case
        return ids[number]

    async def _run(self, key: Hashable, sql: str, rows: list[Values]) -> list[int]:
        self._under_way[key, sql] += 1
        try:
            connection = await self._acquire(key, sql, rows)
            try:
                return await self._insert_all(connection, sql, rows)
            finally:
                self._pool.release(connection)
        finally:
            self._under_way[key, sql] -= 1
            if not self._under_way[key, sql]:
                del self._under_way[key, sql]

    async def _acquire(self, key: Hashable, sql: str, rows: list[Values]) -> Connection:
        """Wait for a connection; after that, nobody joins the rows any more."""
        try:
            return await self._pool.acquire_to_write(key)
        finally:
            batch = self._open.get((key, sql))
            if batch and batch.rows is rows:
                del self._open[key, sql]
