"""The databases of the campaigns, and the service on one of them."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg

from petstore.settings import read_settings
from petstore.storage import migrator
from petstore.storage.database import open_databases
from petstore.timeouts import Limits
from tests.harness import databases, servers
from tests.harness.campaign import Run
from tests.harness.services import Service, serving
from tests.harness.waiting import wait_until

WORKERS = 2
MOST_GROWTH_BYTES = 20 * 1024 * 1024


@contextmanager
def deployed(
    run: Run,
    *options: str,
    engine: str = "sqlite",
    limits: Limits | None = None,
    **settings: str,
) -> Iterator[Service]:
    """Run the service on a new database; options and limits are those of `serving`."""
    with database(engine, run) as url:
        environ = {"DATABASE_URL": url, "WEB_CONCURRENCY": str(WORKERS)} | settings
        with serving(run.directory, environ, *options, limits=limits) as service:
            yield service


@contextmanager
def database(engine: str, run: Run) -> Iterator[str]:
    """Provide a migrated database of the engine; yield its URL."""
    with ExitStack() as stack:
        url = f"sqlite:///{run.directory / 'petstore.db'}"
        if engine == "postgresql":
            server = stack.enter_context(servers.postgresql())
            url = stack.enter_context(new_database(server, run.directory.name))
        migrate(url)
        yield url


@contextmanager
def new_database(server: str, name: str) -> Iterator[str]:
    """Create an empty PostgreSQL database, dropped after the block; yield its URL."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        yield server.replace("/postgres?", f"/{name}?")
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def migrate(url: str) -> None:
    """Migrate a database to the current schema, in this process."""
    with opened(url):
        migrator.migrate()


@contextmanager
def opened(url: str) -> Iterator[None]:
    """Open a database in this process for the duration of the block."""
    open_databases(read_settings({"DATABASE_URL": url}))
    try:
        yield
    finally:
        databases.close()


def memory_of(service: Service) -> int:
    """Return the bytes of memory that the workers use."""
    return sum(worker.memory_info().rss for worker in service.workers)


def require_memory_returns(run: Run, service: Service, before: int) -> None:
    """Wait until the workers use little more memory than before."""
    wait_until(
        lambda: memory_of(service) < before + MOST_GROWTH_BYTES, "memory stays used"
    )
    run.figures["growth_mb"] = round((memory_of(service) - before) / 1e6, 1)


def cpu_seconds(service: Service) -> float:
    """Return the CPU time of the workers, which does not depend on other programs."""
    spent = [worker.cpu_times() for worker in service.workers]
    return sum(each.user + each.system for each in spent)


def damage(directory: Path) -> list[str]:
    """Return what SQLite's checks find wrong with the two databases."""
    found = []
    for path in (directory / "petstore.db", directory / "petstore.db.counters"):
        with closing(sqlite3.connect(path)) as connection:
            found += connection.execute("PRAGMA integrity_check").fetchall()
            found += connection.execute("PRAGMA foreign_key_check").fetchall()
    return [str(row) for row in found if row != ("ok",)]
