"""The base class of both engines: many requests in a thread, and safe writes."""

import math
from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any

import peewee
from peewee import SQL, Database

# A context manager that turns errors of a driver into Peewee's. It is not public; see
# docs/architecture.md.
as_peewee_errors = peewee.__exception_wrapper__  # type: ignore[attr-defined]
_NO_LIMIT = nullcontext()
READS = ("SELECT", "PRAGMA", "EXPLAIN")


class RequestDatabase(Database):
    """A Peewee database that many requests use at the same time in one thread.

    A statement that writes always runs in a transaction, even a single one. A write
    therefore becomes final only with its COMMIT, and a request that times out before
    that is rolled back.
    """

    # The SQL condition under which a statement with a deadline may still write.
    is_before_deadline: Any = SQL("1")

    def __init__(self, database: str, **options: Any) -> None:
        self._states: ContextVar[Any] = ContextVar("state")
        super().__init__(database, thread_safe=False, **options)

    @property
    def _state(self) -> Any:
        # Peewee keeps one state for each thread; here each request needs its own.
        try:
            return self._states.get()
        except LookupError:
            state = self._state_class()
            self._states.set(state)
            return state

    @_state.setter
    def _state(self, state: object) -> None:
        self._state_class = type(state)

    def execute_sql(self, sql: str, params: Any = None) -> Any:
        """Run a statement and return its cursor."""
        if self.in_transaction() or sql.startswith(READS):
            return self._run(sql, params)
        with self.atomic():
            return self._run(sql, params)

    def execute_before_deadline(self, sql: str, params: Any) -> Any:
        """Run a statement that writes only while `is_before_deadline` holds."""
        return self.execute_sql(sql, params)

    def deadline(self) -> float:
        """Return until when a statement that begins now may write."""
        return math.inf

    def write_permit(self, _key: Hashable) -> AbstractContextManager[None]:
        """Return a context manager that limits how many requests write for a key."""
        return _NO_LIMIT

    def _run(self, sql: str, params: Any) -> Any:
        return super().execute_sql(sql, params)  # type: ignore[no-untyped-call]  # Peewee

    def _bind_connection(self, connection: Any) -> None:
        """Use a connection for the transaction that begins."""
        self._state.conn, self._state.closed = connection, False

    def _unbind_connection(self) -> Any:
        """Return the connection of the transaction that has ended."""
        connection, self._state.conn = self._state.conn, None
        self._state.closed = True
        return connection
