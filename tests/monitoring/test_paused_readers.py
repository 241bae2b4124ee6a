"""The service goes on while nobody reads its log, and counts the lines it drops."""

import fcntl
import json
import logging
import os
import pty
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest

from petstore import timeouts
from petstore.events import lines, streams
from tests.harness import servers
from tests.harness.clients import Client
from tests.harness.samples import Samples
from tests.harness.services import issue_key
from tests.harness.waiting import wait_until

LOG_BYTES = 64 * 1024
ENOUGH = 500  # requests whose lines fill any of the logs
REQUESTS = 1000
SHORT = 5  # lines that still find room, or that the test itself causes
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
) -> Iterator[Logged]:
    """gunicorn with two workers, whose log nobody reads."""
    environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "2"}
    environ["PROMETHEUS_MULTIPROC_DIR"] = str(tmp_path / "metrics")
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
    """gunicorn whose log is full."""
    with suppress(OSError):  # only a pipe has a size that can be set
        fcntl.fcntl(gunicorn.writing, fcntl.F_SETPIPE_SZ, LOG_BYTES)
    for _ in range(ENOUGH):
        assert client.get().status == 200
    return gunicorn


only_a_pipe = pytest.mark.parametrize("gunicorn", ["pipe"], indirect=True)


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


@only_a_pipe
def test_replaced_workers_leave_no_metric_files(stuck: Logged, tmp_path: Path):
    def is_complete() -> bool:  # two files for each worker, and one for the master
        return len(list((tmp_path / "metrics").glob("*.db"))) == 2 * 2 + 1

    for _ in range(3):
        old = stuck.workers
        for worker in old:
            worker.kill()
        stuck.wait_for_workers(2, without=old)
        wait_until(is_complete)


@only_a_pipe
def test_reader_may_fall_behind_by_a_mebibyte(gunicorn: Logged):
    assert fcntl.fcntl(gunicorn.writing, fcntl.F_GETPIPE_SZ) == 1024 * 1024


def test_inherited_descriptor_still_waits_for_its_reader(stuck: Logged):
    assert os.get_blocking(stuck.writing)


@only_a_pipe
def test_lines_are_whole_and_flow_again_when_the_reader_returns(
    stuck: Logged, client: Client
):
    assert all(json.loads(line)["time"] for line in stuck.read().splitlines())
    client.get(X_Request_ID="here-again")
    [line] = stuck.read().splitlines()
    assert json.loads(line)["id"] == "here-again"


def test_lines_flow_again_through_any_log(stuck: Logged, client: Client):
    wait_until(lambda: not stuck.read())
    client.get(X_Request_ID="here-again")
    wait_until(lambda: b"here-again" in stuck.read())


PRINTING = """
import sys, threading, warnings
from petstore.events import streams
dropped = []
streams.never_wait(lambda: dropped.append(1))
for _ in range(9):
    print("a line", file=sys.stderr)
    print("x" * 9999)
    warnings.warn("a warning", stacklevel=1)
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
sys.exit(7 if len(dropped) > 27 else 1)
"""


def test_what_python_prints_is_dropped_as_well():
    reading, writing = os.pipe()
    fill(writing)
    os.set_blocking(writing, True)
    command = [sys.executable, "-c", PRINTING]
    done = subprocess.Popen(command, cwd=servers.ROOT, stdout=writing, stderr=writing)
    assert done.wait(servers.STOPPED_WITHIN_SECONDS) == 7
    os.close(reading)
    os.close(writing)


NAMING = """
import sys
from petstore.events import streams
sys.exit(7 if streams.never_wait(list) == ["stdout"] else 1)
"""


def test_stream_that_cannot_be_opened_again_is_named(tmp_path: Path):
    os.mkfifo(tmp_path / "log")
    reading = os.open(tmp_path / "log", os.O_RDONLY | os.O_NONBLOCK)
    with (tmp_path / "log").open("w") as log:
        os.close(reading)  # a pipe that nobody reads cannot be opened
        done = subprocess.Popen(
            [sys.executable, "-c", NAMING], cwd=servers.ROOT, stdout=log
        )
        assert done.wait(servers.STOPPED_WITHIN_SECONDS) == 7


def fill(pipe: int) -> None:
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, timeouts.LIMITS.log_bytes)
    os.set_blocking(pipe, False)
    with suppress(BlockingIOError):
        while True:
            os.write(pipe, b"x" * 1024)


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """A pipe that does not wait, to which events go."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    monkeypatch.setattr(lines, "STDERR", writing)
    yield reading, writing
    os.close(reading)
    os.close(writing)


def test_long_line_becomes_lines_that_a_pipe_takes_whole(pipe: tuple[int, int]):
    text = "ä" * 9_999
    record = {"name": "asyncio", "levelname": "ERROR", "msg": text}
    lines.LineHandler().handle(logging.makeLogRecord(record))
    written = os.read(pipe[0], LOG_BYTES).splitlines(keepends=True)
    assert max(map(len, written)) <= select.PIPE_BUF
    parsed = [json.loads(line) for line in written]
    assert "".join(line["message"] for line in parsed) == text
    assert {(line["event"], line["level"]) for line in parsed} == {("asyncio", "ERROR")}


def test_line_after_one_that_was_cut_is_whole(pipe: tuple[int, int]):
    reading, writing = pipe
    streams.write(writing, b"x" * 2 * LOG_BYTES + b"\n")
    streams.write(writing, b"dropped\n")
    while len(os.read(reading, LOG_BYTES)) == LOG_BYTES and readable(reading):
        pass
    for line in (b"first\n", b"second\n"):
        streams.write(writing, line)
    assert os.read(reading, LOG_BYTES) == b"\nfirst\nsecond\n"


def readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])
