"""The base class of both engines: many requests in a thread, and safe writes."""

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import peewee
from peewee import ColumnBase, Database, Model, Select

# A context manager that turns errors of a driver into Peewee's. It is not public; see
# docs/architecture.md.
as_peewee_errors = peewee.__exception_wrapper__  # type: ignore[attr-defined]
# Columns, each with its value.
Pairs = Sequence[tuple[ColumnBase, Any]]
READS = ("SELECT", "PRAGMA", "EXPLAIN")


class Rows:
    """All rows of a finished statement, used in place of its cursor.

    In SQLite, a statement with rows that were not fetched would block the commit.
    """

    def __init__(
        self,
        rows: list[Any],
        description: Sequence[Any],
        rowcount: int,
        lastrowid: int | None = None,
    ) -> None:
        self._unread = iter(rows)
        self.description = description
        self.rowcount = rowcount
        self.lastrowid = lastrowid

    def __iter__(self) -> Iterator[Any]:
        return self._unread

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        return next(self._unread, None)

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""
        return list(self._unread)

    def close(self) -> None:
        """Return; the statement has finished."""


class RequestDatabase(Database):
    """A Peewee database that many requests use at the same time in one thread.

    A statement that writes runs in a transaction, even a single one. A write therefore
    becomes final only with its COMMIT, and a request that times out before that is
    rolled back. `autocommit` is for what may be carried out although its answer is
    lost: a count, and an animal that is added without an Idempotency-Key.

    On SQLite nothing is awaited between the BEGIN and the COMMIT of a write.
    """

    file: Path | None = None  # that contains the data, without a server

    def __init__(self, database: str, **options: Any) -> None:
        self._states: ContextVar[Any] = ContextVar("state", default=None)
        super().__init__(database, thread_safe=False, **options)

    @property
    def _state(self) -> Any:
        # Peewee keeps one state for each thread; here each request needs its own.
        state = self._states.get()
        if state is None:
            state = self._state_class()
            self._states.set(state)
        return state

    @_state.setter
    def _state(self, state: object) -> None:
        self._state_class = type(state)

    def execute_sql(self, sql: str, params: Any = None) -> Any:
        """Run a statement and return its rows, in place of a cursor."""
        if sql.startswith(READS) or self.in_transaction():
            return self._run(sql, params)
        with self.transaction():
            return self._run(sql, params)

    def skip_locked(self, rows: Select) -> Select:
        """Let a query, whose rows are then deleted, wait for no other transaction."""
        return rows

    def row_id(self, table: type[Model]) -> Sequence[ColumnBase]:
        """Return the columns by which a statement finds a few rows of a table."""
        keys: Sequence[ColumnBase] = table._meta.get_primary_keys()
        return keys

    def _run(self, sql: str, params: Any) -> Any:
        raise NotImplementedError

    def _transaction(self) -> Any:
        """Return the transaction, or None; a read without one makes no state."""
        state = self._states.get()
        return state.conn if state else None

    def _enter_transaction(self, transaction: Any) -> None:
        """Begin to use a transaction, which on PostgreSQL is its connection."""
        state = self._state
        state.conn, state.closed = transaction, False
        # A transaction whose rollback has failed may have left its callbacks.
        state.commit_callbacks.clear()

    def _leave_transaction(self) -> Any:
        """Stop using the transaction, and return it."""
        state = self._state
        transaction, state.conn, state.closed = state.conn, None, True
        return transaction
