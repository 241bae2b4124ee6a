"""Tests for SQLite files that are corrupt, missing or not writable."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from petstore.storage import db
from tests.harness import servers
from tests.harness.waiting import wait_until
from tests.together.faults.conftest import Serve

PAGE_BYTES = 4096
REX = {"name": "Rex", "categoryId": 7}


@pytest.mark.parametrize("suffix", ["", ".counters"])
def test_file_of_garbage_ends_the_start(sqlite_url: str, tmp_path: Path, suffix: str):
    file = tmp_path / f"petstore.db{suffix}"
    file.write_bytes(b"garbage " * 4096)
    ended = servers.refused_gunicorn({"DATABASE_URL": sqlite_url})
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        f"Error: DATABASE_URL: cannot open {file}: file is not a database"
    )


def test_corrupt_counters_do_not_fail_requests(serve: Serve, tmp_path: Path):
    overwrite(tmp_path / "petstore.db.counters", "window_counter")
    service = serve()
    assert service.send(body=REX).status == 201
    assert service.send().status == 200
    wait_until(lambda: service.events("counters_lost"))
    assert not service.gunicorn.tracebacks()


def test_truncated_file_returns_503_until_restored(serve: Serve, tmp_path: Path):
    service = serve()
    service.send(body=REX)
    file = tmp_path / "petstore.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = file.read_bytes()
    os.truncate(file, 5000)
    assert [service.send(body=body).status for body in (None, REX) * 3] == [503] * 6
    assert not service.gunicorn.tracebacks()
    file.write_bytes(whole)
    service.send()  # may be the last one to fail, after which the file is opened again
    assert service.send().status == 200
    assert service.send(body=REX).status == 201
    assert len(service.send().json) == 2


def test_write_on_read_only_connection_fails_only_once(client: FlaskClient):
    # As if the connection was opened on a read-only disk.
    db.execute_sql("PRAGMA query_only = 1")
    refused = client.post("/v1/pets", json=REX)
    assert (refused.status_code, refused.json["code"]) == (503, "service_unavailable")
    assert refused.headers["Retry-After"] == "1"
    assert client.post("/v1/pets", json=REX).status_code == 201


def overwrite(path: Path, table: str) -> None:
    """Overwrite a table with garbage."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_master WHERE tbl_name = ?"
        pages = [page for (page,) in database.execute(query, (table,))]
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE_BYTES)
            file.write(b"\xff" * PAGE_BYTES)
