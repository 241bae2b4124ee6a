"""The stores of the benchmarks, and the servers that are compared on them."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import psycopg
import redis

from tests.harness import servers

USUAL_STORES = ("sqlite", "postgresql")  # the latter with Redis
STORES = (*USUAL_STORES, "postgresql-alone")
BASELINE = "benchmarks.yardsticks.baseline"
# gunicorn's workers for it; more threads are no faster.
GEVENT = ("--worker-class", "gevent")
GTHREAD = ("--worker-class", "gthread", "--threads", "8")


class Server(NamedTuple):
    """A server under load."""

    name: str
    url: str
    process: psutil.Process
    place: "Stage"


@contextlib.contextmanager
def stage(store: str) -> Iterator["Stage"]:
    """Provide a migrated database and counters for the duration of the block."""
    with (
        tempfile.TemporaryDirectory(prefix="petstore-bench-") as directory,
        contextlib.ExitStack() as stack,
    ):
        # Requests come through a proxy, from many client addresses.
        environ = {"PETSTORE_BAN_AFTER": "1000000", "PETSTORE_TRUSTED_PROXIES": "1"}
        if store == "sqlite":
            environ["DATABASE_URL"] = f"sqlite:///{directory}/petstore.db"
        else:
            environ["DATABASE_URL"] = stack.enter_context(servers.postgresql())
        if store == "postgresql":
            counters = servers.redis(Path(directory))
            environ["REDIS_URL"] = stack.enter_context(counters)
        servers.flask(environ, "migrate").check_returncode()
        yield Stage(store, Path(directory), environ, stack, _processes(environ))


class Stage(NamedTuple):
    """The stores on which servers can be started; all are stopped with it."""

    store: str
    directory: Path
    environ: dict[str, str]
    stack: contextlib.ExitStack
    stores: dict[str, psutil.Process]  # the servers of the stores, by name

    def without_proxies(self) -> "Stage":
        """Return the stage for clients that connect directly."""
        direct = self.environ | {"PETSTORE_TRUSTED_PROXIES": "0"}
        return self._replace(environ=direct)

    def service(self) -> Server:
        """Start the service as it runs in production, with one worker."""
        return self.start("service", "gunicorn", "wsgi:app")

    def baseline(self, *worker: str) -> Server:
        """Start the baseline under one of gunicorn's own workers, with the C parser."""
        options = ["--config", os.devnull, "--no-control-socket", *worker]
        options += ["--http-parser", "fast", f"{BASELINE}:app"]
        return self.start(f"baseline {worker[1]}", "gunicorn", *options)

    def start(self, name: str, *command: str) -> Server:
        """Start gunicorn with `python -m` and this command."""
        port = servers.free_port()
        with (self.directory / f"{name}.log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *command, "--bind", f"127.0.0.1:{port}"],
                cwd=servers.ROOT,
                env=os.environ | self.environ | {"WEB_CONCURRENCY": "1"},
                stdout=log,
                stderr=log,
            )
        self.stack.callback(servers.stop, process)
        servers.wait_for_port(port, process)
        url = f"http://127.0.0.1:{port}"
        servers.wait_for_answer(url)
        return Server(name, url, psutil.Process(process.pid), self)

    def sql(self, statement: str) -> list[tuple]:
        """Run an SQL statement on the database and return its rows."""
        with contextlib.closing(self._connect()) as connection, connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def rows(self) -> int:
        """Return the number of animals and orders."""
        [(animals,)] = self.sql("SELECT count(*) FROM pet")
        [(orders,)] = self.sql("SELECT count(*) FROM pet_order")
        return animals + orders

    def _connect(self) -> sqlite3.Connection | psycopg.Connection:
        url = self.environ["DATABASE_URL"]
        if self.store == "sqlite":
            return sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30)
        return psycopg.connect(url)


def _processes(environ: dict[str, str]) -> dict[str, psutil.Process]:
    """Return the servers of the stores, by name."""
    found = {}
    if (url := environ["DATABASE_URL"]).startswith("postgresql"):
        with psycopg.connect(url) as connection:
            [directory] = connection.execute("SHOW data_directory").fetchone()
        pid = Path(directory, "postmaster.pid").read_text().split()[0]
        found["PostgreSQL"] = psutil.Process(int(pid))
    if url := environ.get("REDIS_URL"):
        with redis.from_url(url) as client:
            found["Redis"] = psutil.Process(client.info("server")["process_id"])
    return found


def send(server: Server, key: str, path: str = "", pet: dict | None = None) -> Any:
    """Send GET, or POST if there is a pet; return the status, headers and body."""
    body = None if pet is None else json.dumps(pet).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url}/v1/pets{path}", body, headers)
    try:
        answer = urllib.request.urlopen(request, timeout=10)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers, json.load(answer)
