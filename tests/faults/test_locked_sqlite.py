"""Tests that only writers wait for SQLite's locks and syncs."""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median

import pytest

from tests.harness.services import Service, serving
from tests.harness.waiting import wait_until

REX = {"name": "Rex", "categoryId": 7}
# Longer than a request takes, even on a busy machine.
SYNC_SECONDS = 0.3


@pytest.fixture
def service(service: Service) -> Service:
    """The service, with a key of a project that has one animal."""
    assert service.send(body=REX).status == 201
    return service


@pytest.fixture
def file(service_environ: dict[str, str]) -> str:
    return service_environ["DATABASE_URL"].removeprefix("sqlite:///")


@contextmanager
def locked(file: str) -> Iterator[None]:
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_only_writers_wait_for_a_lock(service: Service, file: str):
    with ThreadPoolExecutor(4) as pool:
        with locked(file):
            pending = [pool.submit(service.send, body=REX) for _ in range(4)]
            for path in ("/v1/pets", "/healthz"):
                assert service.send(path).status == 200
            assert not any(each.done() for each in pending)
        assert {each.result().status for each in pending} == {201}


def test_lock_timeout_returns_503_and_writes_nothing(service: Service, file: str):
    with ThreadPoolExecutor(4) as pool, locked(file):
        pending = [pool.submit(service.send, body=REX) for _ in range(4)]
        answers = [each.result() for each in pending]
    assert {answer.status for answer in answers} == {503}
    assert {answer.headers["Retry-After"] for answer in answers} == {"1"}
    assert len(service.send().json) == 1
    assert service.send(body=REX).status == 201


def test_locked_counters_degrade_and_recover(service: Service, file: str):
    with locked(f"{file}.counters"):
        assert service.send("/v1/pets").status == 200
        assert service.send("/readyz").json["counters"] == "degraded"
    wait_until(lambda: service.send("/readyz").json["counters"] == "ok")


def test_reads_do_not_wait_for_syncs_of_writes(sqlite_url: str, tmp_path: Path):
    environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "1"}
    environ["SYNC_SECONDS"] = str(SYNC_SECONDS)
    worker = ("--worker-class", "tests.faults.slow_disk.SlowDiskWorker")
    with serving(tmp_path, environ, *worker) as service, ThreadPoolExecutor(4) as pool:
        ends = time.monotonic() + 2
        writers = [pool.submit(write_until, ends, service) for _ in range(4)]
        reads = []
        while time.monotonic() < ends:
            started = time.monotonic()
            assert service.send().status == 200
            reads.append(time.monotonic() - started)
        written = sum(writer.result() for writer in writers)
    # If reads waited for syncs, most would take as long as one or two syncs.
    assert median(reads) < SYNC_SECONDS
    assert written >= 4


def write_until(ends: float, service: Service) -> int:
    """Add animals until the given time and return how many were added."""
    count = 0
    while time.monotonic() < ends:
        assert service.send(body=REX).status == 201
        count += 1
    return count
