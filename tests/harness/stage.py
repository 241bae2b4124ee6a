"""Databases of services that a test runs, as this process uses them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg

from petstore.models.callers import select_by_prefix
from petstore.settings import read_settings
from petstore.storage import migrator
from petstore.storage.database import open_databases
from tests.harness import databases


@contextmanager
def new_database(server: str, name: str) -> Iterator[str]:
    """Create an empty PostgreSQL database, dropped after the block; yield its URL."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        yield server.replace("/postgres?", f"/{name}?")
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def migrate(url: str) -> None:
    """Migrate a database to the current schema, in this process."""
    with opened({"DATABASE_URL": url}):
        list(migrator.migrate())
        select_by_prefix.make_function(migrator.MIGRATION_LOCK)


@contextmanager
def opened(environ: Mapping[str, str]) -> Iterator[None]:
    """Open the databases of these settings in this process, until the block ends."""
    with databases.set_aside():
        open_databases(read_settings(environ))
        yield
