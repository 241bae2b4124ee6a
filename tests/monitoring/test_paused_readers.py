"""The service goes on while nobody reads its log, and counts the lines it drops."""

import fcntl
import json
import os
import pty
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest

from tests.harness import servers
from tests.harness.clients import Client
from tests.harness.samples import Samples
from tests.harness.services import issue_key, serving
from tests.harness.waiting import wait_until

LOG_BYTES = 64 * 1024
WAITING = 50  # lines that a queue holds
ENOUGH = 1200  # requests whose lines fill any of the logs, and the queues
REQUESTS = 1000
SHORT = 15  # lines that still find room, or that the test itself causes
DROPPED = "petstore_log_lines_dropped_total"


def connected_sockets() -> tuple[int, int]:
    """Return two sockets, as journald gives one to a service."""
    reading, writing = socket.socketpair()
    return reading.detach(), writing.detach()


LOGS = {"pipe": os.pipe, "terminal": pty.openpty, "socket": connected_sockets}


class Logged(servers.Gunicorn):
    """gunicorn whose stdout and stderr are one descriptor, which a test may read."""

    def __init__(self, directory: Path, environ: dict[str, str], kind: str) -> None:
        self.reading, self.writing = LOGS[kind]()
        os.set_blocking(self.reading, False)
        super().__init__(directory, environ)

    def open_output(self) -> IO[bytes]:
        return os.fdopen(self.writing, "wb", closefd=False)

    def read(self) -> bytes:
        """Return what can be read at once."""
        parts = []
        with suppress(BlockingIOError):
            while part := os.read(self.reading, LOG_BYTES):
                parts.append(part)
        return b"".join(parts)


@pytest.fixture(params=LOGS)
def gunicorn(
    request: pytest.FixtureRequest,
    sqlite_url: str,
    tmp_path: Path,
    set_limits: Callable,
) -> Iterator[Logged]:
    """gunicorn with two workers, whose log nobody reads."""
    set_limits(log_lines=WAITING)
    environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "2"}
    gunicorn = Logged(tmp_path, environ, request.param)
    try:
        gunicorn.wait_until_it_serves()
        yield gunicorn
    finally:
        gunicorn.stop()
        os.close(gunicorn.reading)
        os.close(gunicorn.writing)


@pytest.fixture
def client(gunicorn: Logged, sqlite_url: str) -> Iterator[Client]:
    with Client(gunicorn.url, issue_key({"DATABASE_URL": sqlite_url})) as client:
        yield client


@pytest.fixture
def stuck(gunicorn: Logged, client: Client) -> Logged:
    """gunicorn whose log is full, and whose queues are."""
    with suppress(OSError):  # only a pipe has a size that can be set
        fcntl.fcntl(gunicorn.writing, fcntl.F_SETPIPE_SZ, LOG_BYTES)
    for _ in range(ENOUGH):
        assert client.get().status == 200
    return gunicorn


def dropped(client: Client) -> float:
    return Samples(client.get("/metrics").content.decode()).total(DROPPED)


def test_each_request_is_answered_and_each_dropped_line_is_counted(
    stuck: Logged, client: Client
):
    before = dropped(client)
    assert {client.get().status for _ in range(REQUESTS)} == {200}
    assert client.get("/healthz").status == 200
    assert abs(dropped(client) - before - REQUESTS) <= SHORT


def test_workers_are_replaced_and_the_service_stops(stuck: Logged, client: Client):
    old = stuck.workers
    for worker in old:
        worker.kill()
    stuck.wait_for_workers(2, without=old)
    servers.wait_for_answer(stuck.url)
    stuck.process.terminate()
    assert stuck.process.wait(servers.STOPPED_WITHIN_SECONDS) == 0


def test_lines_flow_again_when_the_reader_returns(stuck: Logged, client: Client):
    def is_logged() -> bool:
        client.get(X_Request_ID="here-again")
        return b"here-again" in stuck.read()

    wait_until(is_logged)


@pytest.mark.parametrize("gunicorn", ["pipe"], indirect=True)
def test_lines_of_all_processes_are_whole(stuck: Logged):
    read = []
    wait_until(lambda: read.append(stuck.read()) or not read[-1])
    lines = b"".join(read).splitlines()
    assert len(lines) > WAITING
    assert all(json.loads(line)["time"] for line in lines)


def test_what_is_waiting_is_written_at_the_end(sqlite_url: str, tmp_path: Path):
    with serving(tmp_path, {"DATABASE_URL": sqlite_url}) as service:
        with service.client() as client:
            ids = [f"r-{number}" for number in range(REQUESTS)]
            for each in ids:
                client.get("/healthz", X_Request_ID=each)
        service.gunicorn.stop()
        logged = [line["id"] for line in service.events("request")]
    assert logged[-REQUESTS:] == ids


PRINTING = """
import os, sys, threading, warnings
from petstore import log
log.capture_prints()
print("of the parent")
if os.fork():
    os.wait()
for _ in range(99):
    print("x" * 999)
    warnings.warn("a warning", stacklevel=1)
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
sys.exit(7 if log.take_dropped() else 1)
"""
UNDER_GEVENT = "from gevent import monkey; monkey.patch_all()"
OF_FEW_LINES = """
from petstore import timeouts
timeouts.LIMITS = timeouts.Limits(log_lines=9)
"""
LOGGING = """
import sys
from petstore import log
log.write({})
log.flush()
sys.exit(7 if log.take_dropped() else 1)
"""


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The two ends of a pipe that nobody reads."""
    reading, writing = os.pipe()
    yield reading, writing
    for end in (reading, writing):
        with suppress(OSError):
            os.close(end)


def code_of(program: str, output: int) -> int:
    """Run a program whose stdout and stderr go there; return its exit code."""
    command = [sys.executable, "-c", program]
    done = subprocess.Popen(command, cwd=servers.ROOT, stdout=output, stderr=output)
    return done.wait(servers.STOPPED_WITHIN_SECONDS)


@pytest.mark.parametrize("patch", ["", UNDER_GEVENT])
def test_what_python_prints_waits_for_no_reader_either(
    pipe: tuple[int, int], patch: str
):
    assert code_of(f"{patch}\n{OF_FEW_LINES}\n{PRINTING}", pipe[1]) == 7


def test_lines_are_counted_if_there_is_no_reader_any_more(pipe: tuple[int, int]):
    reading, writing = pipe
    os.close(reading)
    assert code_of(LOGGING, writing) == 7
