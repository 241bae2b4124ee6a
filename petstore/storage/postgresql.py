"""PostgreSQL behind Peewee's interface."""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import peewee
import psycopg
from peewee import OP, SQL, Case, ColumnBase, Expression, Select, Tuple, fn
from psycopg import waiting
from psycopg.conninfo import conninfo_attempts, conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper

from petstore import clock, concurrency, randomness, timeouts
from petstore.clock import MS_PER_SECOND
from petstore.storage.engine import (
    READ,
    Busy,
    CompiledSql,
    Engine,
    Locked,
    NumberLocked,
    Pairs,
    Row,
    as_peewee_errors,
    placeholder,
    seconds_left,
)

Result = TypeVar("Result")

# Writers wait for each other instead of failing, whatever the default of the role is.
ISOLATION = "READ COMMITTED"

# The server has waited for too long: for a lock, or for the end of a statement.
GIVEN_UP = {"55P03": Locked, "57014": Busy}
IDLE_TIMEOUT = "idle_in_transaction_session_timeout"
READ_ONLY = "25006"  # what a server answers to a write
SERIALIZATION_FAILURE = "40001"
# psycopg takes these for errors of the program, but they are states of the server.
OUTAGES = (READ_ONLY, "25P03", "25P04")  # the transaction was idle, or took, too long

COMMIT, ROLLBACK = CompiledSql("COMMIT"), CompiledSql("ROLLBACK")

# libpq does not tell the SQLSTATE of a connection that is refused. These are the words
# of PostgreSQL, for itself, a role or a database, and of PgBouncer.
TOO_MANY = re.compile("too many (clients|connections)|connection slots|no more conn")
PLACEHOLDER = re.compile(r"%\(\w+\)s")
WAIT_SECONDS = 0.1  # between two looks of psycopg for a signal


class Late(psycopg.OperationalError):
    """The server has not answered in time."""


class Full(psycopg.OperationalError):
    """The server takes no more connections."""


class PooledConnection(psycopg.Connection[Row]):
    """A connection that gives up a statement in time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.limit: float | None = None  # of a statement, in seconds
        # A pooler in transaction mode serves too, since no statement is prepared.
        self.autocommit, self.prepare_threshold = True, None
        # Numbers are always sent as int8, which all columns with numbers are.
        self.adapters.register_dumper(int, Int8Dumper)
        self.opened_at = clock.monotonic()
        # At random, so that those that were opened together do not end together.
        share = randomness.source.uniform(0.5, 1)
        self.ends_at = self.opened_at + timeouts.LIMITS.connection_seconds * share
        self.used_at = self.opened_at
        self.is_given_up = False
        self._kept_cursor: psycopg.Cursor[Row] | None = None
        self._has_functions = True

    def wait(
        self, gen: Any, interval: float = 0.1, timeout: float | None = None
    ) -> Any:
        """Wait for the server, but no longer than a statement and its request may.

        After that the connection is of no use: the statement is cancelled in the
        background, and the server rolls back.
        """
        if timeout is not None or self.limit is None:
            return super().wait(gen, interval, timeout)
        seconds = seconds_left(self.limit)
        try:
            reply = super().wait(gen, interval, seconds)
            self.used_at = clock.monotonic()
            return reply
        except BaseException as error:
            if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            self.is_given_up = True
            self.used_at = clock.monotonic() - seconds  # it has not answered since
            concurrency.start(self._cancel)
            if isinstance(error, psycopg.Error):
                raise Late("the server took too long") from error
            raise

    def fetch(self, compiled: CompiledSql, values: dict[str, Any] | None) -> list[Row]:
        """Run a statement and return all its rows.

        All statements share a cursor: to make one takes as long as half a statement.
        """
        self._kept_cursor = cursor = self._kept_cursor or self.cursor()
        if (
            compiled.function
            and values
            and self._has_functions
            and self.pgconn.transaction_status == TransactionStatus.IDLE
        ):
            # There is none if another release, or a role that may not, has migrated.
            with suppress(psycopg.ProgrammingError):
                call = f"SELECT * FROM {compiled.function}(%s)"  # noqa: S608 (our name)
                return cursor.execute(call, [*values.values()]).fetchall()
            self._has_functions = False  # until the next connection
        cursor.execute(compiled.sql, values)
        return [] if cursor.rownumber is None else cursor.fetchall()

    def _cancel(self) -> None:
        with suppress(psycopg.Error):
            self.cancel_safe(timeout=timeouts.LIMITS.close_seconds)
        self.close()


class Postgresql(Engine, peewee.PostgresqlDatabase):
    """A PostgreSQL database, also behind a pooler in transaction mode."""

    # The time of the server, in ms since 1970: the same for all workers and hosts.
    now_ms = SQL(f"CAST(extract(epoch FROM now()) * {MS_PER_SECOND} AS bigint)")
    clock_ms = SQL(f"extract(epoch FROM clock_timestamp()) * {MS_PER_SECOND}")
    placeholder_format = staticmethod("%({})s".format)
    writes_in_cte = True
    # A function of SQL: where a text begins in another one; 0 if nowhere.
    position = staticmethod(fn.STRPOS)

    def __init__(self, url: str) -> None:
        self._has_time_limits = True
        self._refuses_until = 0.0  # by `clock.monotonic`
        self._refusal: tuple[type[psycopg.Error], str] = psycopg.OperationalError, ""
        self._failed_at: dict[str, float] = {}  # by host
        self._distrusted_at = 0.0  # connections that were opened before are not used
        self._forgotten_at = 0.0  # those that have not answered since are not, either
        self._closing = concurrency.Delayed(self._close_unused)
        super().__init__(url, prefer_psycopg3=True)

    def get_binary_type(self) -> type[bytes]:
        return bytes

    def fault(self) -> str | None:
        """Return that the encoding does not have all characters, and what to do."""
        encoding = self.connection().info.parameter_status("server_encoding")
        if encoding == "UTF8":
            return None
        return f"the encoding is {encoding}; make a database with ENCODING 'UTF8'"

    # Peewee passes the arguments of `atomic` to `begin`.
    def begin(self, lock_id: int | None = None) -> None:  # type: ignore[override]
        """Begin a transaction, which the server ends if this process is silent.

        With `lock_id`, it first takes that lock, as `lock_until_commit` does. Raises
        `NumberLocked`.
        """
        limits = timeouts.LIMITS
        is_locking = lock_id is not None
        lock_seconds = limits.replay_lock_seconds if is_locking else limits.lock_seconds
        sql = f"BEGIN ISOLATION LEVEL {ISOLATION}"
        if self._has_time_limits:
            # LOCAL, since behind a pooler a session may serve several clients.
            for name, limit in (
                ("lock_timeout", _server_limit(lock_seconds)),
                ("statement_timeout", _server_limit(limits.server_statement_seconds)),
                (IDLE_TIMEOUT, _ms(limits.idle_transaction_seconds)),
            ):
                sql += f"; SET LOCAL {name} = '{limit}'"
        if is_locking:
            sql += f"; SELECT pg_advisory_xact_lock({lock_id})"
        try:
            self._fetch(CompiledSql(sql), None)
        except Locked as error:
            self._fetch(ROLLBACK, None)
            raise NumberLocked(str(error)) from error

    def commit(self) -> None:
        self._fetch(COMMIT, None)

    def rollback(self) -> None:
        """Roll back the transaction, or close the connection, which does so too."""
        connection = self._state.conn
        try:
            self._fetch(ROLLBACK, None)
        except peewee.PeeweeException:
            connection.is_given_up = True

    def fetch(self, compiled: CompiledSql, values: dict[str, Any]) -> list[Row]:
        if compiled.is_read and not self.in_transaction():
            return self._read(super().fetch, compiled, values)
        return super().fetch(compiled, values)

    def execute_sql(self, sql: str, params: Any = None) -> Any:
        self.connection()  # a failure to connect is no error of the statement
        run = super().execute_sql
        if READ.match(sql) and not self.in_transaction():
            return self._read(self._run, run, sql, params)
        return self._run(run, sql, params)

    def autocommit(self, compiled: CompiledSql, values: dict[str, Any]) -> list[Row]:
        """Run a statement in one round trip; outside of a transaction it commits.

        If it times out, it is cancelled, but may have been carried out.
        """
        if "lock_timeout" in compiled.sql:
            values |= self._limits()
        try:
            return super().autocommit(compiled, values)
        except peewee.OperationalError as error:
            if self.in_transaction() or _state_of(error) != SERIALIZATION_FAILURE:
                raise
        with self.transaction():  # the default of the role is not ISOLATION
            return self._fetch(compiled, values)

    @property
    def is_in_time(self) -> Expression:
        """A condition: the client still waits, as far as both clocks agree.

        A pooler, or a network, may pass on a statement that was given up.
        """
        return Expression(self.clock_ms, OP.LT, placeholder("ends_ms"))

    def lock_in_turn(self, rows: Select, number: ColumnBase) -> Select:
        """Let a query take the lock of `lock_until_commit`, and then lock its rows.

        Nobody changes their keys or deletes them until the transaction ends. A row that
        was deleted while the query waited is not returned.
        """
        # What the statement waits for is bounded first, as in a transaction.
        timeout = placeholder("lock_timeout")
        is_set = fn.set_config("lock_timeout", timeout, SQL("true")) != ""
        is_locked = self.lock_condition(Case(None, [(is_set, number)]))
        mode: Any = "FOR KEY SHARE"
        return rows.where(is_locked).for_update(mode)

    def make_function(self, compiled: CompiledSql, lock_id: int) -> None:
        """Make the function of a query under a lock, unless the role may not.

        That of another text stays, since the release before may call it. A release
        that changes the text leaves it to the migrations of the next one to drop it.
        """
        with suppress(peewee.ProgrammingError), self.atomic():
            self.lock_until_commit(lock_id)
            rows = self.execute_sql(PLACEHOLDER.sub("NULL", compiled.sql)).description
            columns = [f"c{n} {each.type_display}" for n, each in enumerate(rows)]
            self.execute_sql(
                f"CREATE OR REPLACE FUNCTION {compiled.function}(text)"
                f" RETURNS TABLE ({', '.join(columns)}) STABLE LANGUAGE plpgsql AS"
                f" $$BEGIN RETURN QUERY {PLACEHOLDER.sub('$1', compiled.sql)}; END$$"
            )

    def lock_until_commit(self, number: int) -> None:
        """Take the advisory lock of this number until the transaction ends."""
        self.execute_sql("SELECT pg_advisory_xact_lock(%s)", (number,))

    def lock_condition(self, number: ColumnBase) -> Expression | SQL:
        """Return a condition that takes the lock of `lock_until_commit` and holds.

        PostgreSQL grants this lock in the order in which it is asked for, but the lock
        of a row in any order.
        """
        return fn.pg_advisory_xact_lock(number).is_null(False)

    def is_outage(self, error: peewee.PeeweeException) -> bool:
        """Return whether the server is unavailable or read-only for the moment."""
        return isinstance(error, peewee.OperationalError) or _state_of(error) in OUTAGES

    def recover(self, error: peewee.PeeweeException) -> None:
        """Leave a server that has become read-only: another one may be right now."""
        if _state_of(error) == READ_ONLY:
            self._distrusted_at = clock.monotonic()

    def extend_timeouts(self) -> None:
        """Remove the time limits, for commands; close connections that have them."""
        self._has_time_limits = False
        self.disconnect()

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

    def scan(self, query: Select) -> list[Row]:
        return list(query.tuples())

    def skip_locked(self, rows: Select) -> Select:
        """Lock the rows of a query, without those that are locked already."""
        # A query that locks rows returns others when it runs again in one statement,
        # as in a nested loop. A common table expression runs once.
        locked = rows.for_update(skip_locked=True).cte("locked")
        return Select([locked], [SQL("*")]).with_cte(locked)

    def is_among(self, key: Sequence[ColumnBase], rows: Select) -> Expression:
        """Return the condition that a row is one of a few that a query names.

        Of an array, the server knows that it is short. Else it may read all rows.
        """
        if len(key) > 1:
            return super().is_among(key, rows)
        return Expression(key[0], OP.EQ, fn.ANY(fn.ARRAY(rows)))

    def _open(self) -> PooledConnection:
        """Make a connection; if the server takes no more, wait for one of ours."""
        limits = timeouts.LIMITS
        try:
            connection = self._open_new()
        except Full:
            ends = clock.monotonic() + seconds_left(limits.queue_seconds)
            while not self._idle:
                if clock.monotonic() >= ends:
                    raise
                time.sleep(limits.full_pause_seconds)
            return self._connect()
        if self._has_time_limits:
            connection.limit = limits.statement_seconds
        self._closing.start(limits.unused_seconds / 4)
        return connection

    def _open_new(self) -> PooledConnection:
        limits = timeouts.LIMITS
        if clock.monotonic() < self._refuses_until:
            refusal, reason = self._refusal
            raise refusal(f"a moment ago: {reason}")
        options = {"client_encoding": "utf8", "target_session_attrs": "read-write"}
        try:
            params = conninfo_to_dict(self.database, **options)
            seconds = seconds_left(limits.resolve_seconds)
            found = concurrency.call_within(seconds, conninfo_attempts, params)
            return self._open_one([make_conninfo("", **each) for each in found])
        # `TimeoutError`: a name is not found in time. `UnicodeError`: a host like a..b.
        except (psycopg.Error, TimeoutError, UnicodeError) as error:
            self._refuses_until = clock.monotonic() + limits.back_off_seconds
            refusal = Full if isinstance(error, Full) else psycopg.OperationalError
            self._refusal = refusal, str(error) or "the host was not found in time"
            raise refusal(self._refusal[1]) from error

    def _open_one(self, hosts: list[str]) -> PooledConnection:
        """Connect to one of the hosts; those that have failed last are tried last.

        The hosts share the time that is left.
        """
        limits, errors = timeouts.LIMITS, []
        seconds = seconds_left(limits.connect_seconds)
        hosts.sort(key=lambda host: self._failed_at.get(host, 0.0))
        hosts = hosts[: max(1, int(seconds / limits.host_seconds))]
        for host in hosts:
            connecting, share = (
                PooledConnection._connect_gen(host),
                seconds / len(hosts),
            )
            try:
                connection = waiting.wait_conn(connecting, WAIT_SECONDS, share)
            except psycopg.OperationalError as error:
                if TOO_MANY.search(str(error)):  # so it answers, unlike the others
                    raise Full(str(error)) from error
                self._failed_at[host] = clock.monotonic()
                errors.append(str(error))
            else:
                self._failed_at.pop(host, None)
                return connection
        raise psycopg.OperationalError("; ".join(errors))

    def _close_unused(self) -> None:
        """Close connections that were idle for a while, so that others can connect."""
        limits = timeouts.LIMITS
        until = clock.monotonic() - limits.unused_seconds
        for connection in [each for each in self._idle if each.used_at <= until]:
            with suppress(ValueError):  # somebody has taken it meanwhile
                self._idle.remove(connection)
                connection.close()
        if self._idle or self._places.qsize() < limits.connections:
            self._closing.start(limits.unused_seconds / 4)

    def _is_reusable(self, connection: PooledConnection) -> bool:
        status, now = connection.pgconn.transaction_status, clock.monotonic()
        is_lost = connection.is_given_up or status == TransactionStatus.UNKNOWN
        if is_lost:  # all that have not answered since may be lost, too
            lost_at = connection.used_at if connection.is_given_up else now
            self._forgotten_at = max(self._forgotten_at, lost_at)
        is_idle = status == TransactionStatus.IDLE and not is_lost
        is_trusted = self._distrusted_at < connection.opened_at
        is_alive = self._forgotten_at < connection.used_at
        return is_idle and is_trusted and is_alive and now <= connection.ends_at

    def _limits(self) -> dict[str, Any]:
        """Return how long a single statement waits for a lock, and when it ends."""
        limits, now_ms = timeouts.LIMITS, clock.now_ms()
        if not self._has_time_limits:
            return {"lock_timeout": _ms(0), "ends_ms": now_ms + clock.MS_PER_DAY}
        early = limits.statement_seconds - limits.server_statement_seconds
        left_ms = (seconds_left(limits.statement_seconds) - early) * MS_PER_SECOND
        lock_timeout = _server_limit(limits.lock_seconds)
        return {"lock_timeout": lock_timeout, "ends_ms": now_ms + round(left_ms)}

    def _fetch(self, compiled: CompiledSql, values: dict[str, Any] | None) -> list[Row]:
        return self._run(self._fetch_once, self.connection(), compiled, values)

    def _fetch_once(
        self,
        connection: PooledConnection,
        compiled: CompiledSql,
        values: dict[str, Any] | None,
    ) -> list[Row]:
        with as_peewee_errors:
            return connection.fetch(compiled, values)

    def _run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function; raises `Busy` if it waits too long for the server."""
        try:
            return function(*arguments)
        except peewee.OperationalError as error:
            if isinstance(error.__context__, Late):
                raise Busy(str(error)) from error
            if kind := GIVEN_UP.get(_state_of(error) or ""):
                raise kind(str(error)) from error
            raise

    def _read(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Read; if the connection fails, read once more on a new one.

        A firewall may forget an idle connection without telling either side. A
        statement on it fails only after some time.
        """
        connection, limits = self.connection(), timeouts.LIMITS
        if connection.limit is None:
            return function(*arguments)
        is_idle = clock.monotonic() - connection.used_at >= limits.idle_seconds
        if is_idle:
            connection.limit = limits.idle_statement_seconds
        try:
            return function(*arguments)
        except peewee.OperationalError:
            if not (is_idle if connection.is_given_up else connection.closed):
                raise
            self.close()
            return function(*arguments)
        finally:
            connection.limit = limits.statement_seconds


def _server_limit(seconds: float) -> str:
    """Return a limit for the server, which gives up before the client does.

    The client may have less time left; the limit is then shorter in proportion.
    """
    most = timeouts.LIMITS.statement_seconds
    return _ms(seconds * seconds_left(most) / most)


def _ms(seconds: float) -> str:
    return f"{round(seconds * MS_PER_SECOND)}ms"


def _state_of(error: BaseException | None) -> str | None:
    """Return the SQLSTATE of an error, which Peewee's errors have in their context."""
    while error is not None:
        if isinstance(error, psycopg.Error):
            return error.sqlstate
        error = error.__context__
    return None
