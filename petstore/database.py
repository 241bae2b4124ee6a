"""The two databases, opened by URL: the data, and the quota counters beside it."""

import os
import select
from urllib.parse import unquote

import peewee
from flask import Flask, Response
from peewee import SQL, Database, DatabaseProxy, Model
from playhouse.pool import PooledPostgresqlDatabase
from psycopg.errors import LockNotAvailable

from petstore.clock import MS_PER_SECOND
from petstore.errors import ServiceUnavailable, answer_failure
from petstore.events import emit
from petstore.settings import Settings
from petstore.statements import slot

SQLITE_BUSY_SECONDS = 30
MAX_LOCK_WAIT_MS = 2000
RETRY_AFTER_SECONDS = 1

data = DatabaseProxy()
counters = DatabaseProxy()


class BaseModel(Model):
    """A table of the data."""

    class Meta:
        database = data
        legacy_table_names = False


class CounterModel(Model):
    """A table of the counters, which may lose its last moments in a power cut."""

    class Meta:
        database = counters
        legacy_table_names = False


class Sqlite(peewee.SqliteDatabase):
    """A file in WAL mode; its connections stay open, one for each thread."""

    # One machine, one clock: each run of a statement is given the process's time.
    now_ms = slot("now_ms")

    def __init__(self, path: str, synchronous: str) -> None:
        super().__init__(
            path,
            pragmas={
                "journal_mode": "wal",
                "synchronous": synchronous,
                "foreign_keys": 1,
            },
            timeout=SQLITE_BUSY_SECONDS,
            lock_type="IMMEDIATE",
            returning_clause=True,
        )

    def lock_until_commit(self, _number: int) -> None:
        """Nothing to do: BEGIN IMMEDIATE has already shut out every other writer."""

    def limit_waiting(self) -> None:
        """Nothing to do: no transaction waits for another once it has begun."""

    def has_waited_too_long(self, _error: peewee.OperationalError) -> bool:
        """Never, for the same reason."""
        return False

    def release(self) -> None:
        """Keep the connection for the thread's next request."""


class Postgresql(PooledPostgresqlDatabase):
    """Connections of psycopg, lent for a request or a command and pooled between."""

    # The server's clock, the same for every worker and host.
    now_ms = SQL(f"CAST(extract(epoch FROM now()) * {MS_PER_SECOND} AS bigint)")

    def __init__(self, url: str) -> None:
        super().__init__(url, max_connections=None, prefer_psycopg3=True)

    def lock_until_commit(self, number: int) -> None:
        """Wait for every other transaction that locked the number to end."""
        self.execute_sql("SELECT pg_advisory_xact_lock(%s)", (number,))

    def limit_waiting(self) -> None:
        """Let the present transaction wait for others only so long."""
        self.execute_sql(f"SET LOCAL lock_timeout = {MAX_LOCK_WAIT_MS}")

    def has_waited_too_long(self, error: peewee.OperationalError) -> bool:
        """Whether the error came of `limit_waiting`."""
        return isinstance(error.__context__, LockNotAvailable)

    def release(self) -> None:
        """Give the connection back to the pool."""
        if not self.is_closed():
            self.close()

    def _is_closed(self, conn: object) -> bool:
        # An idle connection that has something to read has been told goodbye;
        # asking the kernel spares the round trip that the pool would make.
        if conn.closed:
            return True
        idle = select.poll()
        idle.register(conn.fileno(), select.POLLIN)
        return bool(idle.poll(0))


def init_app(app: Flask, settings: Settings) -> None:
    """Open both databases, and give connections back after each request."""
    open_databases(settings)
    app.teardown_appcontext(lambda _error: release())
    app.register_error_handler(peewee.OperationalError, _answer_outage)
    app.register_error_handler(peewee.InterfaceError, _answer_outage)


def open_databases(settings: Settings) -> None:
    """Name the databases of the settings; each connects when it is first asked."""
    scheme, _, rest = settings.database_url.partition("://")
    if scheme == "sqlite":
        path = unquote(rest.removeprefix("/"))
        data.initialize(Sqlite(path, synchronous="full"))
        counters.initialize(Sqlite(f"{path}.counters", synchronous="normal"))
    else:
        database = Postgresql(settings.database_url)
        data.initialize(database)
        counters.initialize(database)


def release() -> None:
    """Give back what this thread borrowed."""
    data.release()
    counters.release()


def is_sqlite(database: Database) -> bool:
    """Whether the engine is the embedded one."""
    return isinstance(database, peewee.SqliteDatabase)


def _answer_outage(error: peewee.DatabaseError) -> Response:
    emit("database_error", reason=str(error))
    return answer_failure(
        ServiceUnavailable(
            "The database does not answer at the moment; please try again.",
            {"Retry-After": str(RETRY_AFTER_SECONDS)},
        )
    )


def _forget_connections() -> None:
    for database in (data, counters):
        if database.obj is not None:
            database.dispose()


# A connection must not be shared by parent and child.
os.register_at_fork(after_in_child=_forget_connections)
