"""The service goes on while nobody reads its log, and counts the lines it drops."""

import fcntl
import json
import os
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
ENOUGH = 600  # requests whose lines fill the pipe and the queues
REQUESTS = 1000
SHORT = 15  # lines that still find room, or that the test itself causes
DROPPED = "petstore_log_lines_dropped_total"


class Logged(servers.Gunicorn):
    """gunicorn whose stdout and stderr are one pipe, which a test may read."""

    def __init__(self, directory: Path, environ: dict[str, str]) -> None:
        self.reading, self.writing = os.pipe()
        os.set_blocking(self.reading, False)
        fcntl.fcntl(self.writing, fcntl.F_SETPIPE_SZ, LOG_BYTES)
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


@pytest.fixture
def gunicorn(sqlite_url: str, tmp_path: Path, set_limits: Callable) -> Iterator[Logged]:
    """gunicorn with two workers, whose log nobody reads."""
    set_limits(log_lines=WAITING)
    environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "2"}
    gunicorn = Logged(tmp_path, environ)
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


LOGGING = """
import sys
from petstore import log
dropped = []
log.Stream.on_drop = dropped.append
log.write({})
log.flush()
sys.exit(7 if dropped == [1] else 1)
"""


def test_lines_are_counted_if_there_is_no_reader_any_more():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing) as output:
        done = subprocess.run(
            [sys.executable, "-c", LOGGING],
            cwd=servers.ROOT,
            stdout=output,
            stderr=output,
            check=False,
        )
    assert done.returncode == 7
