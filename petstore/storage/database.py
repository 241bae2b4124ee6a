"""Opens the two databases by URL: the data, and the quota counters beside it."""

from typing import NamedTuple
from urllib.parse import unquote

from petstore import timeouts
from petstore.settings import SettingError, Settings
from petstore.storage.engine import counters, db
from petstore.storage.postgresql import Postgresql
from petstore.storage.sqlite import Sqlite

Engine = Postgresql | Sqlite


class Databases(NamedTuple):
    """The data and the counters of one service; on PostgreSQL they are one database."""

    db: Engine
    counters: Engine

    def extend_timeouts(self) -> None:
        """Wait longer for the server and for locks, as a command may."""
        for database in self:
            database.extend_timeouts()

    def close(self) -> None:
        for database in self:
            database.disconnect()


def open_databases(settings: Settings) -> None:
    """Choose the databases of the settings; each connects when it is first used.

    All applications of a process use the same ones. Raises `SettingError` while others
    are open.
    """
    databases = databases_at(settings.database_url)
    if db.obj and db.obj.database != databases.db.database:
        raise SettingError(
            "DATABASE_URL: another application of this process uses another database; "
            "start a process for each"
        )
    db.initialize(databases.db)
    counters.initialize(databases.counters)


def close_databases() -> None:
    """Close the databases of the process; it may open others then."""
    opened_databases().close()
    db.initialize(None)
    counters.initialize(None)


def opened_databases() -> Databases:
    return Databases(db.obj, counters.obj)


def databases_at(url: str) -> Databases:
    """Return the databases at a URL that the settings have checked."""
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite":
        path, pages = unquote(rest.removeprefix("/")), timeouts.LIMITS.counter_pages
        return Databases(
            Sqlite(path, synchronous="full"),
            # A hit does not wait for the disk.
            Sqlite(f"{path}.counters", synchronous="normal", wal_autocheckpoint=pages),
        )
    database = Postgresql(url)
    return Databases(database, database)
