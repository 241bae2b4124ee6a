"""Group commit: requests that write to SQLite together share one fsync."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from queue import SimpleQueue

from petstore import clock, timeouts
from petstore.storage.engines.busy import BusyFile
from petstore.storage.engines.waiting import WaitQueue, current_deadline, who_waits
from petstore.waiting import (
    allow_waiting,
    await_result,
    forbid_waiting,
    require_may_wait,
)

NEVER_WAIT = (
    "in a transaction on SQLite nothing is awaited: other requests would write into it,"
    " or wait for it as well"
)

Failure = sqlite3.Error | None


class Writer(threading.Thread):
    """A connection, and the thread that commits on it, since COMMIT waits for the disk.

    For one COMMIT, an executor would take as many instructions as ten statements.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(name="commit", daemon=True)
        self.connection = connection
        self.is_closed = False
        self._loop = asyncio.get_running_loop()
        self._callbacks: SimpleQueue[Callable[[Failure], None] | None] = SimpleQueue()
        self.start()

    def commit(self, callback: Callable[[Failure], None]) -> None:
        """Commit in the thread, and then call back in the event loop."""
        self._callbacks.put(callback)

    def close(self) -> None:
        """Close the connection, and end the thread."""
        self.is_closed = True
        self.connection.close()
        self._callbacks.put(None)

    def run(self) -> None:
        """Commit until the connection is closed."""
        while callback := self._callbacks.get():
            failure: Failure = None
            try:
                self.connection.execute("COMMIT")
            except sqlite3.Error as error:
                failure = error
            try:
                self._loop.call_soon_threadsafe(callback, failure)
            except RuntimeError:  # the event loop has ended
                return


class SharedTransaction:
    """A transaction that requests join until its COMMIT starts.

    A request awaits nothing until `commit` or `rollback`, so no other request can write
    in between: `await_result` raises `MustNotWait`, and so does what might wait, such
    as another BEGIN. A request has a savepoint of its own, unless the others have
    written nothing.
    """

    def __init__(self, writer: Writer, on_end: Callable[[], None]) -> None:
        self.connection = writer.connection
        self._on_end = on_end
        # The error that has ended it, or None, for the requests that wait for its end.
        self.outcome: asyncio.Future[Failure] = (
            asyncio.get_running_loop().create_future()
        )
        self.is_open = True  # to other requests
        self._writer = writer
        self._has_writes = False

    def join(self) -> None:
        """Begin the savepoint of a request, if there are writes to be kept."""
        if self._has_writes:
            self.connection.execute("SAVEPOINT request")
        forbid_waiting(NEVER_WAIT)

    def commit(self) -> None:
        """Wait until the writes of the request are on the disk.

        Raises `sqlite3.OperationalError` if the COMMIT fails.
        """
        allow_waiting()
        try:
            if self._has_writes:
                self.connection.execute("RELEASE request")
            elif not self.connection.in_transaction:
                raise sqlite3.OperationalError("the transaction was rolled back")
        except sqlite3.Error as error:
            self._end(error)
            raise
        if not self._has_writes:
            self._has_writes = True
            # Requests that are read in this iteration of the loop may join.
            asyncio.get_running_loop().call_soon(self._start_commit)
        self._wait()

    def rollback(self) -> None:
        """Undo the writes of the request, but not those of other requests."""
        allow_waiting()
        try:
            if self._has_writes:
                self.connection.execute("ROLLBACK TO request")
                self.connection.execute("RELEASE request")
            else:
                self.connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            # After some errors (a full disk) SQLite has rolled back by itself. If it
            # has not, the request can only be undone together with the others.
            self._end(error)
            return
        if self._has_writes:
            # What the request has read may be what others have not committed yet.
            self._wait()
        else:
            self._end(None)

    def fail(self, error: sqlite3.Error) -> None:
        """End what SQLite has rolled back by itself because of an error."""
        allow_waiting()
        self._end(error)

    def _start_commit(self) -> None:
        if not self.outcome.done():  # by an error
            self.is_open = False
            self._writer.commit(self._end)

    def _end(self, failure: Failure) -> None:
        self.is_open = False
        if failure:
            self._writer.close()  # which rolls back what SQLite has not
        if not self.outcome.cancelled():  # as the worker ends
            self.outcome.set_result(failure)
            self._on_end()

    def _wait(self) -> None:
        failure = await_result(self.outcome)
        if failure:
            raise sqlite3.OperationalError(f"the commit has failed: {failure}")


class GroupCommit:
    """Begins the transactions that the requests of one event loop share."""

    new_writer = Writer

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._writer: Writer | None = None
        self._shared: SharedTransaction | None = None
        self._is_beginning = False  # whether a request tries to begin a transaction
        # Of requests that can neither join a transaction nor begin one yet.
        # The first one gets True when it is to begin one, the others get False.
        self._queue: WaitQueue[bool] = WaitQueue(lambda _waited, _stalled: False)
        self._busy_file = BusyFile()

    def begin(self) -> SharedTransaction:
        """Join the open transaction, or begin one.

        Raises `sqlite3.OperationalError` if the file stays locked, or `Busy`.
        """
        require_may_wait()
        ends = min(clock.monotonic() + timeouts.LIMITS.busy_seconds, current_deadline())
        is_first = False
        while not is_first and self._must_wait():
            place = self._queue.wait(who_waits(), deadline=ends)
            is_first = await_result(place)
        if not (self._shared and self._shared.is_open):
            self._shared = self._begin_transaction(ends)
        self._shared.join()
        return self._shared

    def close(self) -> None:
        """Close the connection unless it is in use; `begin` opens a new one."""
        is_in_use = self._shared and not self._shared.outcome.done()
        if self._writer and not (is_in_use or self._is_beginning):
            self._writer.close()
            self._writer = None

    def _must_wait(self) -> bool:
        """Return whether a COMMIT is under way, or another request begins."""
        shared = self._shared
        is_committing = shared and not (shared.is_open or shared.outcome.done())
        return self._is_beginning or bool(is_committing)

    def _wake_first(self) -> None:
        """Let the first request that waits begin; the others may then join it.

        Until it has, no other request begins.
        """
        is_open = self._shared and self._shared.is_open
        if not (is_open or self._is_beginning):
            self._is_beginning = self._queue.serve(True, lambda _purpose: True)

    def _begin_transaction(self, ends: float) -> SharedTransaction:
        self._is_beginning = True
        try:
            if not self._writer or self._writer.is_closed:
                self._writer = self.new_writer(self._connect())
            self._busy_file.retry(
                self._writer.connection.execute,
                "BEGIN IMMEDIATE",
                seconds=ends - clock.monotonic(),
            )
        except BaseException:
            self._is_beginning = False
            self._wake_first()
            raise
        self._is_beginning = False
        self._queue.serve_all(False)
        return SharedTransaction(self._writer, self._wake_first)
