"""Tests for SQLite files that are corrupt, missing or not writable."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest

from tests.faults.conftest import Serve
from tests.faults.counting import add, get
from tests.harness import databases, servers
from tests.harness.waiting import wait_until

PAGE_BYTES = 4096


@pytest.fixture
def key(issue: Callable) -> str:
    return issue()[1]


@pytest.mark.parametrize("suffix", ["", ".counters"])
def test_startup_fails_if_file_is_not_a_database(
    sqlite_url: str, tmp_path: Path, suffix: str
):
    file = tmp_path / f"petstore.db{suffix}"
    file.write_bytes(b"garbage " * 4096)
    ended = servers.refused_gunicorn({"DATABASE_URL": sqlite_url})
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        f"Error: DATABASE_URL: cannot open {file}: file is not a database"
    )


def test_startup_fails_if_database_cannot_be_opened():
    ended = servers.refused_gunicorn({"DATABASE_URL": "sqlite:////nowhere/petstore.db"})
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "Error: DATABASE_URL: cannot open /nowhere/petstore.db: "
        "unable to open database file"
    )


def test_corrupt_table_returns_503_until_restored(
    serve: Serve, key: str, tmp_path: Path
):
    with damaged(tmp_path / "petstore.db", "pet"):
        service = serve(WEB_CONCURRENCY="1")
        answer = get(service, key)
        assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
        assert "malformed" in service.log.read_text()
        servers.stop(service.process)
    assert add(serve(WEB_CONCURRENCY="1"), key).status == 201


def test_corrupt_counters_do_not_fail_requests(serve: Serve, key: str, tmp_path: Path):
    with damaged(tmp_path / "petstore.db.counters", "usage"):
        service = serve(WEB_CONCURRENCY="1")
        assert add(service, key).status == 201
        assert get(service, key).status == 200
        log = service.log.read_text()
        assert log.count("counters_lost") == 1
        assert "Traceback" not in log


def test_writes_return_503_while_database_file_is_missing(
    serve: Serve, key: str, tmp_path: Path
):
    service = serve(WEB_CONCURRENCY="1")
    add(service, key)
    away = (tmp_path / "petstore.db").rename(tmp_path / "away.db")
    assert [add(service, key).status for _ in range(9)] == [503] * 9
    assert get(service, key).status in (200, 503)  # 503 if a new thread must open it
    assert "the file has been removed" in service.log.read_text()
    away.rename(tmp_path / "petstore.db")
    assert add(service, key).status == 201
    assert len(get(service, key).json) == 2


@pytest.mark.parametrize("left", [0, 100, 5000])
def test_truncated_file_returns_503_until_restored(
    serve: Serve, key: str, tmp_path: Path, left: int
):
    service = serve(WEB_CONCURRENCY="1")
    add(service, key)
    file = tmp_path / "petstore.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = file.read_bytes()
    os.truncate(file, left)
    assert [send(service, key).status for send in (get, add) * 3] == [503] * 6
    assert "Traceback" not in service.log.read_text()
    file.write_bytes(whole)
    wait_until(lambda: get(service, key).status == 200)
    assert add(service, key).status == 201
    assert len(get(service, key).json) == 2


def test_truncated_wal_keeps_complete_writes(serve: Serve, key: str, tmp_path: Path):
    service = serve(WEB_CONCURRENCY="1")
    added = [add(service, key).json["id"] for _ in range(5)]
    databases.close()
    [worker] = psutil.Process(service.process.pid).children()
    for process in (service.process, worker):
        process.kill()
        process.wait()
    wal = tmp_path / "petstore.db-wal"
    with wal.open("r+b") as file:
        file.truncate(wal.stat().st_size - 10_000)
    other = serve(WEB_CONCURRENCY="1")
    kept = [pet["id"] for pet in get(other, key).json]
    assert kept == added[: len(kept)]
    assert len(kept) < len(added)
    assert add(other, key).status == 201


@contextmanager
def damaged(path: Path, table: str) -> Iterator[None]:
    """Overwrite a table with garbage and restore the file after the block."""
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_master WHERE tbl_name = ?"
        pages = [page for (page,) in database.execute(query, (table,))]
    database.close()
    whole = path.read_bytes()
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE_BYTES)
            file.write(b"\xff" * PAGE_BYTES)
    yield
    path.write_bytes(whole)
