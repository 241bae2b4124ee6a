"""What both engines change in Peewee: many requests in a thread, and safe writes."""

import math
from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any

import peewee
from peewee import SQL, Database

# What a driver raises within it is Peewee's (see "internals" in docs/architecture.md).
as_peewee_errors = peewee.__exception_wrapper__  # type: ignore[attr-defined]
_NO_LIMIT = nullcontext()
READS = ("SELECT", "PRAGMA", "EXPLAIN")


class RequestDatabase(Database):
    """A database that many requests use at once in one thread.

    A statement that writes is carried out in a transaction even where it is alone. So
    there is one place where a write becomes final, its COMMIT, and what is given up
    before that is undone.
    """

    # Whether a timely statement may still write.
    in_time: Any = SQL("1")

    def __init__(self, database: str, **options: Any) -> None:
        self._states: ContextVar[Any] = ContextVar("state")
        super().__init__(database, thread_safe=False, **options)

    @property
    def _state(self) -> Any:
        # Peewee keeps it for each thread, in which here are many requests.
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
        """Run a statement, and return its cursor."""
        if self.in_transaction() or sql.startswith(READS):
            return self._run(sql, params)
        with self.atomic():
            return self._run(sql, params)

    def execute_timely(self, sql: str, params: Any) -> Any:
        """Run a statement that writes at least one row, if `in_time` holds."""
        return self.execute_sql(sql, params)

    def deadline(self) -> float:
        """Until when a statement that begins now may write, for `in_time`."""
        return math.inf

    def write_permit(self, _key: Hashable) -> AbstractContextManager[None]:
        """Write as one of the few that write for that key at a time."""
        return _NO_LIMIT

    def _run(self, sql: str, params: Any) -> Any:
        return super().execute_sql(sql, params)  # type: ignore[no-untyped-call]  # Peewee

    def _bind_connection(self, connection: Any) -> None:
        """Let the transaction that begins use a connection."""
        self._state.conn, self._state.closed = connection, False

    def _unbind_connection(self) -> Any:
        """The connection of the transaction that has ended."""
        connection, self._state.conn = self._state.conn, None
        self._state.closed = True
        return connection
