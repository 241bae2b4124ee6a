"""The two databases, opened by URL: the data, and the quota counters beside it."""

import os
from typing import NamedTuple
from urllib.parse import unquote

import peewee
from flask import Flask, Response
from peewee import Database, DatabaseProxy, Model

from petstore.engines.postgresql import Postgresql
from petstore.engines.sqlite import Sqlite, SqliteCounters
from petstore.errors import ServiceUnavailable, answer_bug, answer_failure
from petstore.events import emit
from petstore.settings import Settings

RETRY_AFTER_SECONDS = 1

data = DatabaseProxy()
counters = DatabaseProxy()


class Databases(NamedTuple):
    """The data and the counters of one service."""

    data: Database
    counters: Database

    def be_patient(self) -> None:
        """Wait for as long as it takes, as a command may."""
        for database in self:
            database.be_patient()

    def close(self) -> None:
        """Give up what this thread has opened."""
        for database in dict.fromkeys(self):
            database.disconnect()


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


def init_app(app: Flask, settings: Settings) -> None:
    """Open both databases, and give connections back after each request."""
    open_databases(settings)
    app.teardown_appcontext(lambda _error: release())
    app.register_error_handler(peewee.PeeweeException, _answer_outage)


def open_databases(settings: Settings) -> None:
    """Name the databases of the settings; each connects when it is first asked."""
    databases = databases_at(
        settings.database_url, prepares_statements=settings.prepared_statements
    )
    data.initialize(databases.data)
    counters.initialize(databases.counters)


def databases_at(url: str, *, prepares_statements: bool) -> Databases:
    """Both databases of a URL; with PostgreSQL they are one."""
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite":
        path = unquote(rest.removeprefix("/"))
        return Databases(
            Sqlite(path, synchronous="full"),
            SqliteCounters(f"{path}.counters"),
        )
    database = Postgresql(url, prepares_statements=prepares_statements)
    return Databases(database, database)


def release() -> None:
    """Give back what the request borrowed."""
    data.release()
    counters.release()


def is_sqlite(database: Database) -> bool:
    """Whether the engine is the embedded one."""
    return isinstance(database, peewee.SqliteDatabase)


def _answer_outage(error: peewee.PeeweeException) -> Response:
    if not data.is_outage(error):
        return answer_bug(error)
    emit("database_error", reason=str(error))
    data.recover()
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
