"""The databases of the campaigns, and a service that can be killed."""

import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Self

import psutil
import psycopg

from petstore.settings import read_settings
from petstore.storage import migrator
from petstore.storage.database import open_databases
from tests.harness import databases, servers
from tests.harness.clients import Client
from tests.harness.services import issue_key
from tests.harness.waiting import wait_until
from tests.torture.campaign import Run

PROMOTED = "Master has been promoted"
WORKERS = 2


def migrated_sqlite(directory: Path) -> str:
    """Create a migrated SQLite database and return its URL."""
    url = f"sqlite:///{directory / 'petstore.db'}"
    migrate(url)
    return url


@contextmanager
def database(engine: str, run: Run) -> Iterator[str]:
    """Provide a migrated database of the engine; yield its URL."""
    with ExitStack() as stack:
        if engine == "sqlite":
            yield migrated_sqlite(run.directory)
            return
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
    open_databases(read_settings({"DATABASE_URL": url}))
    migrator.migrate()
    databases.close()


def damage(directory: Path) -> list[str]:
    """Return what SQLite's checks find wrong with the two databases."""
    found = []
    for path in (directory / "petstore.db", directory / "petstore.db.counters"):
        with closing(sqlite3.connect(path)) as connection:
            found += connection.execute("PRAGMA integrity_check").fetchall()
            found += connection.execute("PRAGMA foreign_key_check").fetchall()
    return [str(row) for row in found if row != ("ok",)]


def is_alive(process: psutil.Process) -> bool:
    """Return whether the process is running."""
    # An orphan that has ended stays a zombie where no init process reaps it.
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def children_of(process: psutil.Process) -> list[psutil.Process]:
    """Return the child processes, or none if the process is gone."""
    with suppress(psutil.NoSuchProcess):
        return process.children()
    return []


class Host:
    """A gunicorn server on a fixed port, and a key for it.

    Without a key, one of a new project with an ample quota is issued. As a context
    manager, it starts the server and ends all its processes.
    """

    def __init__(
        self,
        directory: Path,
        environ: dict[str, str],
        *options: str,
        key: str | None = None,
    ) -> None:
        self._directory = directory
        self._environ = environ | {
            "WEB_CONCURRENCY": str(WORKERS),
            "GUNICORN_CMD_ARGS": " ".join(options),
            # Files that a killed master leaves behind are removed with the directory.
            "TMPDIR": str(directory),
        }
        self._promotions = 0
        self._port = servers.free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.key = key or issue_key(environ)

    def start(self) -> None:
        """Start gunicorn without waiting until it serves."""
        gunicorn = servers.start_gunicorn(self._directory, self._environ, self._port)
        self._child, self._log = gunicorn.process, gunicorn.log
        self.master = psutil.Process(self._child.pid)

    def __enter__(self) -> Self:
        self.start()
        try:
            self.wait_until_it_serves()
        except BaseException:
            self.end(signal.SIGKILL)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.end(signal.SIGTERM)

    def workers(self) -> list[psutil.Process]:
        """Return the worker processes."""
        return children_of(self.master)

    def wait_for_workers(self, without: list[psutil.Process]) -> None:
        """Wait until all workers are running and none of the given ones is."""
        wait_until(
            lambda: (
                len(found := self.workers()) >= WORKERS
                and not set(found) & set(without)
            ),
            "no new workers",
        )

    def wait_until_it_serves(self) -> float:
        """Wait until a request is answered; return the seconds that took."""
        with Client(self.url, self.key) as client:
            return wait_until(lambda: client.get().status == 200, "no answer")

    def end(self, how: signal.Signals) -> None:
        """Send the master a signal and wait until all processes have ended."""
        everybody = [self.master, *self.master.children(recursive=True)]
        self.master.send_signal(how)
        try:
            wait_until(lambda: not any(map(is_alive, everybody)), "the service goes on")
        finally:
            for process in everybody:
                if is_alive(process):
                    process.kill()
            self._child.wait()

    def kill_master(self) -> float:
        """Kill the master and start another; return the seconds until it serves."""
        killed_at, orphans = time.monotonic(), self.workers()
        self.master.kill()
        self._child.wait()
        self.start()
        wait_until(lambda: not any(map(is_alive, orphans)), "orphans serve")
        self.wait_until_it_serves()
        return time.monotonic() - killed_at

    def replace(self) -> None:
        """Let the master start its successor (SIGUSR2), then end the old one."""
        old, others = self.master, self.workers()
        old.send_signal(signal.SIGUSR2)

        def successors() -> list[psutil.Process]:
            found = [child for child in self.workers() if child not in others]
            return [child for child in found if len(children_of(child)) >= WORKERS]

        wait_until(successors, "no successor")
        [self.master] = successors()
        old.terminate()
        wait_until(lambda: not is_alive(old), "the old master goes on")
        self._child.wait()
        self._promotions += 1
        # Before it is promoted, it cannot start a successor of its own.
        wait_until(
            lambda: self._log.read_text().count(PROMOTED) == self._promotions,
            "the successor is not promoted",
        )
