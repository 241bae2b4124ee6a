"""PostgreSQL behind Peewee's interface."""

import asyncio
import re
from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from itertools import count
from typing import Any

import peewee
from peewee import SQL, Case, ColumnBase, Expression, Select, Tuple, fn

from petstore import timeouts
from petstore.clock import MS_PER_SECOND
from petstore.storage.engines.base import Pairs, RequestDatabase, Rows
from petstore.storage.engines.batches import Batches
from petstore.storage.engines.connection import (
    Lost,
    PostgresConnection,
    SerializationFailure,
    connect,
)
from petstore.storage.engines.pool import Pool
from petstore.storage.engines.waiting import (
    Who,
    current_deadline,
    seconds_left,
    who_waits,
)
from petstore.storage.queries import Row, Written, slot
from petstore.waiting import await_result

_VERSION_UNIT = 10_000  # server_version_num: 180001 is 18.1

# Writers wait for each other instead of failing, whatever the default of the role is.
ISOLATION = "READ COMMITTED"


class Postgresql(RequestDatabase, peewee.PostgresqlDatabase):
    """A PostgreSQL database; each statement or transaction uses a pooled connection."""

    # The time of the server, in ms since 1970: the same for all workers and hosts.
    now_ms = SQL(f"CAST(extract(epoch FROM now()) * {MS_PER_SECOND} AS bigint)")

    def __init__(self, url: str, *, prepares_statements: bool) -> None:
        self._has_time_limits = True
        self._prepares_statements = prepares_statements
        self._pool: Pool | None = None
        super().__init__(url)

    def get_binary_type(self) -> type[bytes]:
        """Return the type of binary parameters."""
        return bytes

    def writing(
        self, key: Hashable, *, lock_seconds: float | None = None
    ) -> AbstractContextManager[Any]:
        """Run the block in a transaction that writes for a project or subject.

        `lock_seconds` limits how long it waits for each lock of another transaction.
        """
        return self.atomic(lock_seconds, key)

    def placeholder(self, numbers: dict[str, int], name: str) -> str:
        """Return the SQL for a slot: one number, however often it occurs."""
        return f"${numbers.setdefault(name, len(numbers) + 1)}"

    def fetch(self, written: Written, values: dict[str, Any]) -> list[Row]:
        """Run a statement with a value for each slot, and return all its rows."""
        return list(super().execute_sql(written.sql, written.in_order(values)))

    def execute_sql(self, sql: str, params: Any = None) -> Any:
        """Run a statement of Peewee, which writes %s where PostgreSQL has $1."""
        numbers = count(1)
        numbered = re.sub("%s", lambda _: f"${next(numbers)}", sql)
        return super().execute_sql(numbered, params)

    def autocommit(
        self, key: Hashable, written: Written, values: dict[str, Any]
    ) -> list[Row]:
        """Run a statement that contains `limiting_locks`; return all its rows.

        Outside a transaction it is one itself, in one round trip. If it times out, it
        is cancelled, but may have been carried out.
        """
        if self._transaction():
            return self.fetch(written, values | {"lock_timeout": None})
        return await_result(self._autocommit(key, written, values, current_deadline()))

    def run_many(self, written: Written, many: list[dict[str, Any]]) -> None:
        """Run a statement for each of the values, in the current transaction.

        That takes one round trip.
        """
        rows = [written.in_order(values) for values in many]
        if rows:
            seconds = self._statement_seconds(current_deadline())
            await_result(self._transaction().run_many(written.sql, rows, seconds))

    def limiting_locks(self, value: ColumnBase) -> ColumnBase:
        """Return the value; where it is computed, the wait for each lock is limited.

        In a transaction, its own limit holds.
        """
        name = "lock_timeout"
        limit = fn.coalesce(slot(name), fn.current_setting(name))
        setting = fn.set_config(name, limit, SQL("true"))
        return Case(None, [(setting.is_null(False), value)])

    def lock_until_commit(self, number: int) -> None:
        """Lock the number until the transaction ends; wait for others that hold it."""
        self.execute_sql("SELECT pg_advisory_xact_lock($1)", (number,))

    def lock_condition(self, number: ColumnBase) -> Expression:
        """Return a condition that takes the lock of `lock_until_commit`, and is true.

        A statement that inserts the rows selected with it draws their ids afterwards.
        """
        return fn.pg_advisory_xact_lock(number).is_null(False)

    def is_outage(self, error: peewee.PeeweeException) -> bool:
        """Return whether the server is unavailable or read-only for the moment."""
        return isinstance(error, peewee.OperationalError)

    def extend_timeouts(self) -> None:
        """Remove the time limits, for commands; close connections that have them."""
        self._has_time_limits = False
        self.disconnect()
        self._pool = None

    def recover(self, _error: peewee.PeeweeException) -> None:
        """Keep the connection: the pool drops those that are broken."""

    def disconnect(self) -> None:
        """Close all connections that are not in use."""
        if self._pool:
            await_result(self._pool.close())

    def dispose(self) -> None:
        """Drop all connections without closing them: they belong to another process."""
        self._pool = None

    # Peewee passes the arguments of `atomic` to `begin`.
    def begin(  # type: ignore[override]
        self, lock_seconds: float | None = None, key: Hashable = None
    ) -> None:
        """Begin a transaction on a connection from the pool."""
        self._enter_transaction(
            await_result(self._begin(lock_seconds, key, current_deadline()))
        )

    def commit(self) -> None:
        """Commit the transaction."""
        await_result(self._commit(self._state.conn, current_deadline()))
        self._leave_transaction()

    def rollback(self) -> None:
        """Roll back the transaction.

        If that fails, the connection is closed, which also rolls back.
        """
        await_result(self._rollback(self._leave_transaction(), current_deadline()))

    def version(self) -> int:
        """Return the major version of the server."""
        [(number,)] = self.execute_sql("SHOW server_version_num")
        return int(number) // _VERSION_UNIT

    def server_now_ms(self) -> int:
        """Return the time of the server."""
        [(now,)] = self.execute_sql(f"SELECT {self.now_ms.sql}")
        return int(now)

    def along_index(
        self, equal: Pairs, low: Expression, high: Expression | None = None
    ) -> Expression:
        """Return the condition for a part of an index.

        In it each column has its value, and one or two bounds hold for the next column.
        If columns are compared one by one, PostgreSQL may scan the primary key and skip
        any number of rows of other projects. Whole rows can only be compared along the
        right index.
        """
        columns, values = zip(*equal, strict=True)

        def row(bound: Expression) -> Expression:
            left, right = Tuple(*columns, bound.lhs), Tuple(*values, bound.rhs)
            return Expression(left, bound.op, right)

        end = Tuple(*columns) <= Tuple(*values) if high is None else row(high)
        return row(low) & end

    def order_along_index(
        self, equal: Pairs, columns: Sequence[ColumnBase]
    ) -> list[ColumnBase]:
        """Return the columns to order by: all those of the index."""
        return [*(column for column, _ in equal), *columns]

    def join(self, text: ColumnBase, separator: str) -> ColumnBase:
        """Return the texts of all rows, with the separator between them."""
        return fn.STRING_AGG(text, separator)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything as it is at one moment, without blocking writers."""
        with self.atomic():
            self.execute_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield

    def filling(self) -> AbstractContextManager[Any]:
        """Fill an empty database in one transaction."""
        return self.atomic()

    def last_id(self, table: str) -> int:
        """Return the last id that was assigned, even to a deleted row; 0 for none."""
        query = "SELECT last_value FROM pg_sequences WHERE sequencename = $1"
        [(last,)] = self.execute_sql(query, (f"{table}_id_seq",))
        return last or 0

    def continue_ids_after(self, table: str, last: int) -> None:
        """Make the next id greater than the last one."""
        self.execute_sql("SELECT setval($1, $2)", (f"{table}_id_seq", last))

    def insert(self, key: Hashable, written: Written, values: dict[str, Any]) -> int:
        """Insert at most one row, like `autocommit`; return its id, 0 without.

        Requests that would wait for others of the same key share a transaction.
        """
        if self._transaction():
            rows = self.autocommit(key, written, values)  # Peewee has added RETURNING
            return rows[0][0] if rows else 0
        return await_result(self._insert(key, written, values, current_deadline()))

    def skip_locked(self, rows: Select) -> Select:
        """Lock the rows of a query, without those that are locked already."""
        # A query that locks rows returns others when it runs again in one statement,
        # as in a nested loop. A common table expression runs once.
        locked = rows.for_update(skip_locked=True).cte("locked")
        return Select([locked], [SQL("*")]).with_cte(locked)

    def _run(self, sql: str, params: Any) -> Rows:
        if connection := self._transaction():
            seconds = self._statement_seconds(current_deadline())
            return await_result(connection.run(sql, params or (), seconds))
        return await_result(
            self._read(sql, params or (), who_waits(), current_deadline())
        )

    # What follows runs in the event loop, where the request's deadline is not known.

    async def _read(
        self, sql: str, params: Any, who: Who | None, deadline: float
    ) -> Rows:
        """Run a statement alone, and once more if its connection was dead.

        A firewall may forget a connection without a word to either side.
        """
        try:
            return await self._read_once(sql, params, who, deadline)
        except Lost:
            return await self._read_once(sql, params, who, deadline)

    async def _read_once(
        self, sql: str, params: Any, who: Who | None, deadline: float
    ) -> Rows:
        pool = self._open_pool()
        connection = await pool.acquire(who, deadline=deadline)
        try:
            seconds = self._read_seconds(deadline)
            return await connection.run(sql, params, seconds)
        finally:
            pool.release(connection)

    async def _autocommit(
        self, key: Hashable, written: Written, values: dict[str, Any], deadline: float
    ) -> list[Row]:
        pool = self._open_pool()
        connection = await pool.acquire_to_write(key, deadline)
        try:
            return await self._autocommit_many(connection, written, [values], deadline)
        finally:
            pool.release(connection)

    async def _insert(
        self, key: Hashable, written: Written, values: dict[str, Any], deadline: float
    ) -> int:
        self._open_pool()
        return await self._batches.insert(key, written, values, deadline)

    async def _insert_all(
        self,
        connection: PostgresConnection,
        written: Written,
        many: list[dict[str, Any]],
        deadline: float,
    ) -> list[int]:
        """Insert rows in one transaction; return their ids, 0 for each without."""
        number = len(written.names) + 1
        numbered = Written(
            f"{written.sql}, CAST(${number} AS int)", (*written.names, "row")
        )
        many = [values | {"row": row} for row, values in enumerate(many)]
        ids = [0] * len(many)
        rows = await self._autocommit_many(connection, numbered, many, deadline)
        for row_id, row in rows:
            ids[row] = row_id
        return ids

    async def _autocommit_many(
        self,
        connection: PostgresConnection,
        written: Written,
        many: list[dict[str, Any]],
        deadline: float,
    ) -> list[Row]:
        """Run a statement for each of the values, all in one transaction."""
        lock_seconds = self._open_pool().lock_seconds
        seconds = self._statement_seconds(deadline)
        limit = {"lock_timeout": _time(lock_seconds, seconds)}
        rows = [written.in_order(values | limit) for values in many]
        try:
            return await connection.run_many(written.sql, rows, seconds)
        except SerializationFailure:  # the default of the role is not ISOLATION
            await self._begin_on(connection, lock_seconds, deadline)
            seconds = self._statement_seconds(deadline)
            found = await connection.run_many(written.sql, rows, seconds)
            await self._commit_on(connection, deadline)
            return found

    async def _begin(
        self, lock_seconds: float | None, key: Hashable, deadline: float
    ) -> PostgresConnection:
        pool = self._open_pool()
        connection = await pool.acquire_to_write(key, deadline)
        try:
            seconds = min(lock_seconds or pool.lock_seconds, pool.lock_seconds)
            await self._begin_on(connection, seconds, deadline)
        except BaseException:
            pool.release(connection)
            raise
        return connection

    async def _commit(self, connection: PostgresConnection, deadline: float) -> None:
        await self._commit_on(connection, deadline)
        # The database may have another pool by now; see `extend_timeouts`.
        connection.lender.release(connection)

    async def _rollback(self, connection: PostgresConnection, deadline: float) -> None:
        with suppress(peewee.PeeweeException):
            if not (connection.is_uncertain or connection.is_closed()):
                seconds = self._statement_seconds(deadline)
                await connection.run("ROLLBACK", seconds=seconds)
        connection.lender.release(connection)

    async def _begin_on(
        self, connection: PostgresConnection, lock_seconds: float, deadline: float
    ) -> None:
        """Begin a transaction whose statements give up before the deadline."""
        sql = f"BEGIN ISOLATION LEVEL {ISOLATION}"
        seconds = self._statement_seconds(deadline)
        if seconds is not None:
            limits = timeouts.LIMITS
            statement_time = _time(limits.server_statement_seconds, seconds)
            # LOCAL, since behind a pooler a session may serve several clients.
            sql = (
                f"{sql}"
                f"; SET LOCAL lock_timeout = '{_time(lock_seconds, seconds)}'"
                f"; SET LOCAL statement_timeout = '{statement_time}'"
                f"; {_limit_idleness(limits.idle_transaction_seconds)}"
            )
        await connection.run(sql, seconds=seconds)

    async def _commit_on(self, connection: PostgresConnection, deadline: float) -> None:
        """Commit before the deadline, or never.

        If the COMMIT does not arrive, the server must have ended the transaction when
        the request gives up.
        """
        seconds = self._statement_seconds(deadline)
        if seconds is not None and seconds < timeouts.LIMITS.idle_transaction_seconds:
            seconds /= 2
            await connection.run(_limit_idleness(seconds), seconds=seconds)
        await connection.run("COMMIT", seconds=seconds)

    def _read_seconds(self, deadline: float) -> float | None:
        if not self._has_time_limits:
            return None
        return seconds_left(deadline, timeouts.LIMITS.read_seconds)

    def _statement_seconds(self, deadline: float) -> float | None:
        if not self._has_time_limits:
            return None
        return seconds_left(deadline, timeouts.LIMITS.statement_seconds)

    def _open_pool(self) -> Pool:
        """Return the pool of the running event loop."""
        if self._pool is None or self._pool.loop is not asyncio.get_running_loop():
            connect_to_server = partial(
                connect,
                self.database,
                prepares_statements=self._prepares_statements,
                has_time_limits=self._has_time_limits,
            )
            self._pool = Pool(connect_to_server, has_timeout=self._has_time_limits)
            self._batches = Batches(self._pool, self._insert_all)
        return self._pool


def _limit_idleness(seconds: float) -> str:
    return f"SET LOCAL idle_in_transaction_session_timeout = '{_time(seconds)}'"


def _time(limit: float, seconds: float | None = None) -> str:
    """Return a time limit as PostgreSQL reads it, which takes 0 for none.

    If a statement has only so many seconds of its usual time, the server gets the same
    share of its limit, to give up before the client does.
    """
    usual = timeouts.LIMITS.statement_seconds
    if seconds is not None and seconds < usual:
        limit *= seconds / usual
    return f"{int(limit * MS_PER_SECOND) or 1}ms"
