"""A connection to PostgreSQL whose results and errors are those of Peewee."""

import re
from functools import lru_cache
from typing import Any, Protocol

import asyncpg
import peewee

from petstore import timeouts
from petstore.storage.engines.base import Rows
from petstore.storage.engines.waiting import Busy


class Lost(peewee.OperationalError):
    """The connection has failed: it is unknown whether a statement was carried out."""


class SerializationFailure(peewee.OperationalError):
    """Another transaction has changed a row that this one has seen before."""


READ_ONLY = "25006"  # what a server answers to a write

# By SQLSTATE, or by its first two characters. Others are bugs: DatabaseError.
ERRORS: dict[str, type[peewee.PeeweeException]] = {
    "08": peewee.OperationalError,  # the connection has failed
    "22": peewee.DataError,
    "23": peewee.IntegrityError,
    READ_ONLY: peewee.OperationalError,
    "25P03": peewee.OperationalError,  # the transaction was idle for too long
    "25P04": peewee.OperationalError,  # the transaction took too long
    "40": peewee.OperationalError,  # a deadlock
    "40001": SerializationFailure,
    "42": peewee.ProgrammingError,
    "53": peewee.OperationalError,  # no memory, disk or connection is left
    "55P03": Busy,  # somebody holds a lock
    "57P01": Lost,  # the server has ended the connection
    "57": peewee.OperationalError,  # the statement was cancelled; the server stops
    "58": peewee.OperationalError,  # the system of the server has failed
}

# What asyncpg raises; a TimeoutError is an OSError. InternalClientError is what follows
# if the server has said that it ends a connection, and has not closed it yet.
FAILURES = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
)
_ROWS = re.compile(r"\s*(SELECT|WITH|SHOW|EXPLAIN)\b|.*\bRETURNING\b", re.DOTALL)


class Lender(Protocol):
    """The pool that lends a connection."""

    def release(self, connection: "PostgresConnection") -> None:
        """Take the connection back."""


class PostgresConnection(asyncpg.Connection):
    """A connection that tells whether another request may use it."""

    lender: Lender
    # Whether it is unknown what became of the last statement.
    is_uncertain = False
    _failure = ""  # of the connection, if there was one
    # Whether the server has become read-only, so that another one may be the right one.
    is_read_only = False
    is_retired = False  # whether it is closed when it is released

    @property
    def is_idle(self) -> bool:
        """Whether it may be used again, and nothing is under way on it."""
        return not (
            self.is_uncertain
            or self.is_retired
            or self.is_closed()
            or self.is_in_transaction()
        )

    async def run(
        self, sql: str, parameters: Any = (), seconds: float | None = None
    ) -> Rows:
        """Run a statement and return its result; raises errors of Peewee.

        `seconds` limits the wait, otherwise the limit of the connection does.
        After a failure of the connection, its transaction is over: the end of a nested
        block would only wait for as long again.
        """
        if self._failure:
            raise Lost(self._failure)
        self.is_uncertain = True
        try:
            if _returns_rows(sql):
                records = await self.fetch(sql, *parameters, timeout=seconds)
                names = list(zip(records[0].keys())) if records else []
                rows = Rows(records, names, len(records))
            else:
                status = await self.execute(sql, *parameters, timeout=seconds)
                rows = Rows([], [], _count(status))
        except FAILURES as error:
            raise self._as_peewee_error(error) from error
        self.is_uncertain = False
        return rows

    async def run_many(
        self, sql: str, many: list[list[Any]], seconds: float | None
    ) -> list[Any]:
        """Run a statement for each of the parameters; return all rows.

        That takes one round trip. Outside a transaction, they are one themselves.
        """
        self.is_uncertain = True
        try:
            rows: list[Any] = await self.fetchmany(sql, many, timeout=seconds)
        except FAILURES as error:
            raise self._as_peewee_error(error) from error
        self.is_uncertain = False
        return rows

    def _as_peewee_error(self, error: Exception) -> peewee.PeeweeException:
        """Return the error as Peewee's; note whether the statement has ended."""
        self.is_uncertain = not isinstance(error, asyncpg.PostgresError)
        text = str(error) or "the server took too long"
        kind: type[peewee.PeeweeException]
        if isinstance(error, asyncpg.PostgresError):
            state = error.sqlstate or ""
            if state == READ_ONLY:
                self.is_read_only = self.is_retired = True
            kind = ERRORS.get(state) or ERRORS.get(state[:2], peewee.DatabaseError)
        elif isinstance(error, ValueError):
            kind = peewee.DataError  # a parameter of the wrong type
        else:
            kind, self._failure = Lost, text
        return kind(text)


async def connect(
    url: str,
    *,
    prepares_statements: bool,
    has_time_limits: bool,
) -> PostgresConnection:
    """Open a connection; raises `peewee.OperationalError`.

    With time limits, it gives up a statement in time and cancels it, and it leads to
    the one of several servers that can be written.
    """
    limits = timeouts.LIMITS
    try:
        connection: PostgresConnection = await asyncpg.connect(
            url,
            timeout=limits.connect_seconds,
            command_timeout=limits.statement_seconds if has_time_limits else None,
            statement_cache_size=limits.prepared_statements
            if prepares_statements
            else 0,
            max_cached_statement_lifetime=0,
            connection_class=PostgresConnection,
            target_session_attrs="read-write" if has_time_limits else None,
        )
    except (*FAILURES, UnicodeError) as error:  # the last is a host like a..b
        raise peewee.OperationalError(str(error) or "no connection in time") from error
    return connection


@lru_cache(timeouts.LIMITS.prepared_statements)
def _returns_rows(sql: str) -> bool:
    return bool(_ROWS.match(sql))


def _count(status: str) -> int:
    """Return how many rows a statement has written: 2 for "INSERT 0 2"."""
    number = status.rpartition(" ")[2]
    return int(number) if number.isdigit() else -1
