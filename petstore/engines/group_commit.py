"""Group commit: requests that write to SQLite together share one fsync."""

import asyncio
import functools
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from petstore import waiting

BUSY_SECONDS = 2.0
RETRY_SECONDS = 0.001


class GroupCommit:
    """A transaction that the requests of one event loop share.

    Each request has a savepoint of its own and waits for the shared COMMIT before it
    responds. A request awaits nothing between `begin` and `commit` or `rollback`, so no
    other request can write into its savepoint.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._connection: sqlite3.Connection | None = None
        # COMMIT waits for the disk, so it runs in a thread.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        # Set while the transaction begins or is committed.
        self._busy: asyncio.Future[None] | None = None
        # The error of the COMMIT, or None, for the requests that wait for it.
        self._outcome: asyncio.Future[object] | None = None

    def begin(self) -> sqlite3.Connection:
        """Begin the savepoint of a request, and return its connection.

        Raises `sqlite3.OperationalError` if the file is locked for BUSY_SECONDS.
        """
        deadline = time.monotonic() + BUSY_SECONDS
        while self._busy:
            waiting.wait(_wait_until_free(self._busy, deadline))
        connection = self._connection = self._connection or self._connect()
        if not connection.in_transaction:
            self._begin_transaction(connection, deadline)
        connection.execute("SAVEPOINT request")
        return connection

    def commit(self, connection: sqlite3.Connection) -> None:
        """Wait until the writes of the request are on the disk.

        Raises `sqlite3.OperationalError` if the COMMIT fails.
        """
        connection.execute("RELEASE request")
        loop = asyncio.get_running_loop()
        if self._outcome is None:
            self._outcome = loop.create_future()
            # Requests that are read in this iteration of the loop may join.
            loop.call_soon(self._start_commit, connection, self._outcome)
        self._wait_for_outcome(self._outcome)

    def rollback(self, connection: sqlite3.Connection) -> None:
        """Undo the writes of the request, but not those of other requests."""
        if not connection.in_transaction:
            # After some errors (a full disk) SQLite has rolled back the transaction.
            self._resolve("another request has found the file broken")
            return
        connection.execute("ROLLBACK TO request")
        connection.execute("RELEASE request")
        if self._outcome is None:
            connection.execute("ROLLBACK")
        else:
            # What the request has read may be what others have not committed yet.
            self._wait_for_outcome(self._outcome)

    def close(self) -> None:
        """Close the connection unless it is in use; `begin` opens a new one."""
        if self._connection and not self._busy and not self._connection.in_transaction:
            self._connection.close()
            self._connection = None

    def _begin_transaction(
        self, connection: sqlite3.Connection, deadline: float
    ) -> None:
        self._busy = asyncio.get_running_loop().create_future()
        try:
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    return
                except sqlite3.OperationalError as error:
                    if not is_busy(error) or time.monotonic() >= deadline:
                        raise
                waiting.wait(asyncio.sleep(RETRY_SECONDS))
        finally:
            self._set_free()

    def _wait_for_outcome(self, outcome: asyncio.Future[object]) -> None:
        failure = waiting.wait(outcome)
        if failure:
            raise sqlite3.OperationalError(f"the commit has failed: {failure}")

    def _start_commit(
        self, connection: sqlite3.Connection, outcome: asyncio.Future[object]
    ) -> None:
        if outcome.done():  # an error has ended the transaction
            return
        loop = asyncio.get_running_loop()
        self._busy = loop.create_future()
        commit = loop.run_in_executor(self._thread, connection.execute, "COMMIT")
        commit.add_done_callback(functools.partial(self._on_committed, connection))

    def _on_committed(
        self, connection: sqlite3.Connection, commit: asyncio.Future[sqlite3.Cursor]
    ) -> None:
        failure = commit.exception()
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        self._resolve(failure)
        self._set_free()

    def _resolve(self, failure: object) -> None:
        if self._outcome:
            self._outcome.set_result(failure)
            self._outcome = None

    def _set_free(self) -> None:
        busy, self._busy = self._busy, None
        if busy:
            busy.set_result(None)


async def _wait_until_free(free: asyncio.Future[None], deadline: float) -> None:
    await asyncio.wait([free], timeout=deadline - time.monotonic())
    if time.monotonic() >= deadline:
        raise sqlite3.OperationalError("the disk is busy")


def is_busy(error: BaseException | None) -> bool:
    """Return whether the error means that another connection has locked the file."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return code & 0xFF == sqlite3.SQLITE_BUSY
