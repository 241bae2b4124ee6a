"""The stores of the benchmarks, and the servers that run on them."""

import contextlib
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import psycopg
import redis

from tests.harness import clusters, servers

STORES = ("sqlite", "postgresql")  # the latter with Redis
YARDSTICKS = Path(__file__).with_name("yardsticks")
BY_HAND = "benchmarks.yardsticks.flask_app:app"
PYTHON = (sys.executable, "-m")
BIND = ("--bind", "127.0.0.1:{port}")
GUNICORN = (*PYTHON, "gunicorn", *BIND)
# gunicorn's own worker, and nothing of the service.
GEVENT = ("--config", os.devnull, "--no-control-socket", "--worker-class", "gevent")
FLOOR = ("nginx", "-p", "{directory}", "-c", "{directory}/floor.conf")


class Server(NamedTuple):
    """A server that runs."""

    port: int
    process: psutil.Process

    @property
    def url(self) -> str:
        """The address of its root."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def worker(self) -> int:
        """The id of the process that answers."""
        children = self.process.children()
        return children[0].pid if children else self.process.pid


class Stage(NamedTuple):
    """A migrated database and counters."""

    store: str
    directory: Path
    environ: dict[str, str]
    stores: dict[str, psutil.Process]  # the servers of the stores, by name

    @contextlib.contextmanager
    def running(
        self,
        command: tuple[str, ...],
        below: tuple[str, ...] = (),
        environ: dict[str, str] | None = None,
    ) -> Iterator[Server]:
        """Run a server with one worker for the duration of the block.

        `below` is the command of a program that runs it.
        """
        port = servers.free_port()
        self._write_floor(port)
        names = {"port": port, "directory": self.directory}
        words = [*below, *(word.format_map(names) for word in command)]
        environ = self.environ | (environ or {})
        log = self.directory / "log"
        with servers.running(words, port, log, environ) as process:
            server = Server(port, psutil.Process(process.pid))
            servers.wait_for_answer(server.url)
            try:
                yield server
            finally:  # at once: the limits of a counted worker are a thousandfold
                for each in (server.process, *server.process.children()):
                    each.kill()

    def sql(self, statement: str) -> list[tuple]:
        """Run an SQL statement on the database and return its rows."""
        with contextlib.closing(self._connect()) as connection, connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def _write_floor(self, port: int) -> None:
        text = (YARDSTICKS / "floor.conf").read_text()
        text = text.replace("PORT", str(port)).replace("FOLDER", str(YARDSTICKS))
        (self.directory / "floor.conf").write_text(text)

    def _connect(self) -> sqlite3.Connection | psycopg.Connection:
        url = self.environ["DATABASE_URL"]
        if self.store == "sqlite":
            return sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30)
        return psycopg.connect(url)


@contextlib.contextmanager
def stage(store: str, proxies: int = 0) -> Iterator[Stage]:
    """Provide a migrated database and counters for the duration of the block."""
    with (
        tempfile.TemporaryDirectory(prefix="petstore-bench-") as directory,
        contextlib.ExitStack() as stack,
    ):
        environ = {
            "WEB_CONCURRENCY": "1",
            "PETSTORE_BAN_AFTER": "1000000",
            "PETSTORE_TRUSTED_PROXIES": str(proxies),
            "PROMETHEUS_MULTIPROC_DIR": directory,
        }
        if store == "sqlite":
            environ["DATABASE"] = f"{directory}/petstore.db"
            environ["DATABASE_URL"] = f"sqlite:///{environ['DATABASE']}"
        else:
            counters = clusters.Server(servers.free_port(), Path(directory))
            environ["DATABASE_URL"] = stack.enter_context(servers.postgresql())
            environ["REDIS_URL"] = stack.enter_context(counters).url
        servers.flask(environ, "migrate").check_returncode()
        yield Stage(store, Path(directory), environ, _processes(environ))


def _processes(environ: dict[str, str]) -> dict[str, psutil.Process]:
    """Return the servers of the stores, by name."""
    if "REDIS_URL" not in environ:
        return {}
    with psycopg.connect(environ["DATABASE_URL"]) as connection:
        [directory] = connection.execute("SHOW data_directory").fetchone()
    pid = Path(directory, "postmaster.pid").read_text().split()[0]
    with redis.from_url(environ["REDIS_URL"]) as client:
        redis_pid = client.info("server")["process_id"]
    return {"PostgreSQL": psutil.Process(int(pid)), "Redis": psutil.Process(redis_pid)}
