"""The stores, and the servers that are compared on them."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import psycopg

from tests import servers

YARDSTICKS = Path(__file__).parent / "yardsticks"
STORES = ("sqlite", "postgresql")  # the latter with Redis
ANIMALS = 150
AMPLE = "1000000000"


class Server(NamedTuple):
    """A server under load."""

    url: str
    process: psutil.Process


@contextlib.contextmanager
def stage(store: str) -> Iterator["Stage"]:
    """A migrated database and its counters, for as long as the block runs."""
    with (
        tempfile.TemporaryDirectory(prefix="petstore-bench-") as directory,
        contextlib.ExitStack() as stack,
    ):
        environ = {"PETSTORE_BAN_AFTER": "1000000"}
        if store == "sqlite":
            environ["DATABASE_URL"] = f"sqlite:///{directory}/petstore.db"
        else:
            environ["DATABASE_URL"] = stack.enter_context(servers.postgresql())
            redis = servers.redis(Path(directory))
            environ["REDIS_URL"] = stack.enter_context(redis)
        servers.flask(environ, "migrate").check_returncode()
        yield Stage(Path(directory), environ, stack)


class Stage(NamedTuple):
    """Where servers can be started; all end with it."""

    directory: Path
    environ: dict[str, str]
    stack: contextlib.ExitStack

    def key(self, name: str, per_day: str = AMPLE) -> str:
        """A key of a new project."""
        plan = ("--plan", "enterprise", "--per-minute", AMPLE, "--per-day", per_day)
        project = servers.flask(self.environ, "projects", "create", name, *plan)
        slug = project.stdout.strip()
        key = servers.flask(self.environ, "keys", "create", "--project", slug)
        return key.stdout.strip()

    def service(self, workers: int = 1) -> Server:
        """The service as it runs in production."""
        environ = self.environ | {"WEB_CONCURRENCY": str(workers)}
        service = servers.gunicorn(self.directory, environ)
        running = self.stack.enter_context(service)
        return Server(running.url, psutil.Process(running.process.pid))

    def yardstick(self, name: str) -> Server:
        """A yardstick under gunicorn's own defaults."""
        port = servers.free_port()
        command = [sys.executable, "-m", "gunicorn", "--config", os.devnull]
        command += ["--bind", f"127.0.0.1:{port}", "--no-control-socket", f"{name}:app"]
        process = subprocess.Popen(
            command,
            cwd=YARDSTICKS,
            env=os.environ | self.environ,
            stderr=subprocess.DEVNULL,
        )
        self.stack.callback(servers.stop, process)
        servers.wait_for_port(port, process)
        return Server(f"http://127.0.0.1:{port}", psutil.Process(process.pid))

    def sql(self, statement: str) -> list[tuple]:
        """Run a statement of SQL on the database; its rows."""
        with contextlib.closing(self._connect()) as connection, connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def animals(self) -> int:
        """How many there are."""
        return self.sql("SELECT count(*) FROM pet")[0][0]

    def _connect(self) -> sqlite3.Connection | psycopg.Connection:
        url = self.environ["DATABASE_URL"]
        if url.startswith("sqlite"):
            return sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30)
        return psycopg.connect(url)


def fill(server: Server, key: str) -> None:
    """Add some animals."""
    for number in range(ANIMALS):
        status = ("available", "pending", "sold")[number % 3]
        pet = {"name": f"Rex {number}", "categoryId": number % 5, "status": status}
        ask(f"{server.url}/v1/pets", key, pet)


def ask(url: str, key: str, pet: dict | None = None) -> tuple[Any, Any]:
    """The body and the headers of an answer to GET, or to POST where there is a pet."""
    body = None if pet is None else json.dumps(pet).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, body, headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer), answer.headers
