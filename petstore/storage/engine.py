"""The two databases, and what both engines share: connections, deadlines, statements.

The SQL of a `CompiledQuery` is built once: letting Peewee build it again would cost
more than running it costs in SQLite.
"""

import hashlib
import math
import queue
import re
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import peewee
from peewee import Context, Expression, Model, Query, Select, Tuple

from petstore import clock, timeouts

# A context manager that turns errors of a driver into Peewee's. It is not public; see
# docs/architecture.md.
as_peewee_errors = peewee.__exception_wrapper__  # type: ignore[attr-defined]
# Columns, each with its value.
Pairs = Sequence[tuple[peewee.ColumnBase, Any]]
Row = Any  # a named tuple
# The functions that convert values, by names of placeholders or places of columns.
Converters = dict[Any, Callable[[Any], Any]]
# Drivers take and return the values of these columns as Peewee does.
UNCONVERTED = {
    *(peewee.BigAutoField, peewee.BigIntegerField, peewee.ForeignKeyField),
    *(peewee.BlobField, peewee.TextField),
}
# What begins a query that only reads. One that begins with WITH may write.
READ = re.compile("(?i)SELECT|PRAGMA|EXPLAIN|SHOW")

db = peewee.DatabaseProxy()  # the data
counters = peewee.DatabaseProxy()  # on PostgreSQL the same database

NEVER = math.inf
# When the current request stops waiting for the stores, by `clock.monotonic`; commands
# and background tasks do not stop.
deadline: ContextVar[float] = ContextVar("deadline", default=NEVER)


class BaseModel(Model):
    """A table of the data."""

    id: Any  # in most tables
    project: Any  # in those of a project

    class Meta:
        database = db
        legacy_table_names = False

    @classmethod
    def columns(cls) -> list[peewee.Field]:
        """Return the columns of a row, all but those that `Meta.hidden` names."""
        hidden = getattr(cls._meta, "hidden", ())
        return [each for each in cls._meta.sorted_fields if each.name not in hidden]

    @classmethod
    def row(cls, *values: Any) -> Row:
        """Return a row with these values of its columns."""
        return row_maker(*(each.name for each in cls.columns()))(values)


class CounterModel(Model):
    """A table of the counters, which may lose its last writes in a power cut."""

    class Meta:
        database = counters
        legacy_table_names = False


class Busy(peewee.OperationalError):
    """Others have kept a lock, or all connections, for too long."""


class Locked(Busy):
    """Others have kept a lock for too long."""


class NumberLocked(Locked):
    """Others have kept the number locked with which a transaction begins.

    SQLite locks only the whole file, which does not tell what others do there.
    """


def seconds_left(limit: float) -> float:
    """Return the limit, or the time until the deadline if that is less.

    Commands and background tasks have no deadline. Raises `Busy` if no time is left.
    """
    left = min(limit, deadline.get() - clock.monotonic())
    if left <= 0:
        raise Busy("the request has waited for as long as it may")
    return left


@contextmanager
def suppress_outage() -> Iterator[None]:
    """End the block early if the database is away; any other fault is raised."""
    try:
        yield
    except peewee.DatabaseError as error:
        if not db.is_outage(error):
            raise


def close_connections() -> None:
    """Give back what the request, or the background task, has used."""
    for proxy in (db, counters):
        proxy.obj.close()


class CompiledSql(NamedTuple):
    """The SQL of a statement that is built once."""

    sql: str
    is_read: bool = False
    of_placeholders: Converters = {}
    of_columns: Converters = {}
    make: Callable[[Any], Row] = tuple  # a row of the values of its columns
    function: str = ""  # with which PostgreSQL runs it, if the database has that


@cache
def row_maker(*names: str) -> Callable[[Any], Row]:
    """Return a function that makes a named tuple of the values of these columns."""
    return partial(tuple.__new__, namedtuple("Row", names, rename=True))


class Engine(peewee.Database):
    """A Peewee database with a pool of connections.

    A request takes a connection with its first statement and gives it back at its end,
    when `close` is called. The connection that was given back last is taken first.

    A statement that writes runs in a transaction, even a single one: a write becomes
    final only with its COMMIT, and a request that times out before that is rolled back.
    """

    _state: Any  # of the greenlet or thread
    writes_in_cte = False  # whether a common table expression may write
    file: Path | None = None  # which contains the data, if no server does

    def __init__(self, database: str, **options: Any) -> None:
        self._make_pool()
        super().__init__(database, **options)

    def create(self) -> None:
        """Create the file of the database, where it has one."""

    # The methods of Peewee hold a lock while they connect, so one slow connection would
    # block all. They also take more than 2 % of the instructions of a request.

    def connect(self, reuse_if_open: bool = False) -> bool:
        """Take a connection, unless one is open; raises `Busy` if none becomes free."""
        state = self._state
        if not state.closed:
            return False
        try:
            self._places.get(timeout=seconds_left(timeouts.LIMITS.queue_seconds))
        except queue.Empty:
            raise Busy("all connections to the database are in use") from None
        try:
            with as_peewee_errors:
                state.set_connection(self._connect())
        except BaseException:
            self._places.put(None)
            raise
        return True

    def close(self) -> bool:
        """Give the connection back; return whether there was one."""
        state = self._state
        if state.closed:
            return False
        if state.transactions:
            raise peewee.OperationalError("a transaction is under way")
        connection = state.conn
        state.reset()
        with as_peewee_errors:
            self._close(connection)
        return True

    def disconnect(self) -> None:
        """Close the connections that are not in use, and that of the caller."""
        self.close()
        while self._idle:
            self._idle.pop().close()

    def execute_sql(self, sql: str, params: Any = None) -> Any:
        """Run a statement; one that writes is a transaction of its own.

        A write that returns rows needs `atomic`: they are read before its COMMIT.
        """
        if READ.match(sql) or self.in_transaction():
            return super().execute_sql(sql, params)
        with self.transaction():
            return super().execute_sql(sql, params)

    def fetch(self, compiled: CompiledSql, values: dict[str, Any]) -> list[Row]:
        """Run a compiled query with a value for each placeholder; return all rows."""
        if compiled.is_read or self.in_transaction():
            return self._fetch(compiled, values)
        with self.transaction():
            return self._fetch(compiled, values)

    def autocommit(self, compiled: CompiledSql, values: dict[str, Any]) -> list[Row]:
        """Run a statement and return all its rows.

        Outside of a transaction it is committed at once, even if its answer is lost.
        """
        return self._fetch(compiled, values)

    def make_function(self, compiled: CompiledSql, lock_id: int) -> None:
        """Make the function of a query under a lock, where functions save time."""

    def skip_locked(self, rows: Select) -> Select:
        """Return a query for rows to delete without those that others have locked."""
        return rows

    def is_among(self, key: Sequence[peewee.ColumnBase], rows: Select) -> Expression:
        """Return the condition that a row is one of the few of a query."""
        return Tuple(*key).in_(rows)

    def row_id(self, table: type[Model]) -> Sequence[peewee.ColumnBase]:
        """Return the columns by which a statement finds a few rows of a table."""
        return table._meta.get_primary_keys()

    def _make_pool(self) -> None:
        # A semaphore of `threading` would take fifteen times as long as this queue,
        # which is written in C.
        self._places: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(timeouts.LIMITS.connections):
            self._places.put(None)
        self._idle: list[Any] = []

    def _connect(self) -> Any:
        while self._idle:
            connection = self._idle.pop()
            if self._is_reusable(connection):
                return connection
            connection.close()
        return self._open()

    def _close(self, connection: Any) -> None:
        if self._is_reusable(connection):
            self._idle.append(connection)
        else:
            connection.close()
        self._places.put(None)

    def _open(self) -> Any:
        raise NotImplementedError

    def _is_reusable(self, connection: Any) -> bool:
        raise NotImplementedError

    def _fetch(self, compiled: CompiledSql, values: dict[str, Any]) -> list[Row]:
        raise NotImplementedError


class placeholder(peewee.ColumnBase):  # noqa: N801 (queries name it like a function)
    """A placeholder for a value, with the name of its column or with another name."""

    def __init__(self, column: peewee.Field | str) -> None:
        self._column = column

    def __sql__(self, context: Context) -> Context:
        name = column = self._column
        if isinstance(column, peewee.Field):
            name = column.name
            if type(column) not in UNCONVERTED:
                context.state.converters[name] = column.db_value
        return context.literal(context.state.placeholder_format(name))


class CompiledQuery:
    """A query whose SQL is built once, for each engine and each set of choices.

    It is called with the choices on which the query depends, and with a value for each
    placeholder. It returns all rows, as named tuples.
    """

    def __init__(
        self,
        database: peewee.DatabaseProxy,
        build: Callable[..., Query],
        is_function: bool = False,
    ) -> None:
        self._database = database
        self._build = build
        self._is_function = is_function
        self._compiled: dict[Any, CompiledSql] = {}

    def __call__(self, *choices: Any, **values: Any) -> list[Row]:
        database = self._database.obj
        compiled = self._compiled.get((type(database), choices))
        compiled = compiled or self._compile(database, choices)
        if compiled.of_placeholders:
            _convert(values, compiled.of_placeholders)
        rows: list[Row] = database.fetch(compiled, values)
        if compiled.of_columns:
            rows = [_convert([*row], compiled.of_columns) for row in rows]
        return list(map(compiled.make, rows)) if rows else rows

    def autocommit(self, *choices: Any, **values: Any) -> list[Row]:
        """Run a query with `autocommit` of the engine; no column is converted."""
        database = self._database.obj
        compiled = self._compiled.get((type(database), choices))
        compiled = compiled or self._compile(database, choices)
        return list(map(compiled.make, database.autocommit(compiled, values)))

    def make_function(self, lock_id: int) -> None:
        """Let PostgreSQL plan the query once for each connection, in a function."""
        database = self._database.obj
        database.make_function(self._compile(database, ()), lock_id)

    def _compile(self, database: Any, choices: tuple[Any, ...]) -> CompiledSql:
        query: Any = self._build(*choices)
        of_placeholders: Converters = {}
        # Constants become literals. This is not documented; see docs/architecture.md.
        context = database.get_sql_context(
            value_literals=True,
            placeholder_format=database.placeholder_format,
            converters=of_placeholders,
        )
        sql, _ = context.parse(query)
        columns = query._returning or ()
        names = [
            each.name if isinstance(each, peewee.Field) else "" for each in columns
        ]
        of_columns = {
            place: column.python_value
            for place, column in enumerate(columns)
            if isinstance(column, peewee.Field) and type(column) not in UNCONVERTED
        }
        digest = hashlib.sha256(sql.encode()).hexdigest()
        compiled = self._compiled[type(database), choices] = CompiledSql(
            sql,
            isinstance(query, peewee.SelectQuery),
            of_placeholders,
            of_columns,
            row_maker(*names),
            f"query_{digest[:16]}" if self._is_function else "",
        )
        return compiled


def _convert(values: Any, converters: Converters) -> Any:
    for key, convert in converters.items():
        values[key] = convert(values[key])
    return values


def compiled(
    database: peewee.DatabaseProxy, *, is_function: bool = False
) -> Callable[[Callable[..., Query]], CompiledQuery]:
    """Make the decorated function, which builds a query, a `CompiledQuery`.

    With `is_function`, `flask migrate` makes a function of it on PostgreSQL; it has one
    placeholder then, for a text, and no choices.
    """
    return partial(CompiledQuery, database, is_function=is_function)
