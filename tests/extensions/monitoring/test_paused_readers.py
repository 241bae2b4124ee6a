"""The service goes on while nobody reads its log, and counts the lines it drops."""

import fcntl
import json
import os
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
REQUESTS = 300
SHORT = 15  # lines that still find room, or that the test itself causes


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


def test_service_goes_on_and_counts_what_it_drops(gunicorn: Logged, sqlite_url: str):
    def dropped() -> float:
        text = client.get("/metrics").content.decode()
        return Samples(text).total("petstore_log_lines_dropped_total")

    def is_logged() -> bool:
        client.get(X_Request_ID="here-again")
        read.append(gunicorn.read())
        return b"here-again" in b"".join(read)

    read: list[bytes] = []
    with Client(gunicorn.url, issue_key({"DATABASE_URL": sqlite_url})) as client:
        assert {client.get().status for _ in range(ENOUGH)} == {200}
        before = dropped()
        assert {client.get("/healthz").status for _ in range(REQUESTS)} == {200}
        assert abs(dropped() - before - REQUESTS) <= SHORT
        old = gunicorn.workers
        for worker in old:
            worker.kill()
        gunicorn.wait_for_workers(2, without=old)
        wait_until(is_logged)
        lines = b"".join(read).splitlines()[:-1]  # the last one may be under way
        assert len(lines) > WAITING
        assert all(json.loads(line)["time"] for line in lines)
        assert {client.get().status for _ in range(ENOUGH)} == {200}
    gunicorn.process.terminate()
    assert gunicorn.process.wait(servers.STOPPED_WITHIN_SECONDS) == 0


def test_what_is_waiting_is_written_at_the_end(sqlite_url: str, tmp_path: Path):
    with serving(tmp_path, {"DATABASE_URL": sqlite_url}) as service:
        with service.client() as client:
            ids = [f"r-{number}" for number in range(REQUESTS)]
            for each in ids:
                client.get("/healthz", X_Request_ID=each)
        service.gunicorn.stop()
        logged = [line["id"] for line in service.events("request")]
    assert logged[-REQUESTS:] == ids
