"""SQLite files: how they are opened."""

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from petstore import waiting
from petstore.engines.sqlite import Sqlite
from tests.workers import run_requests

HELD_SECONDS = 0.3


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A file without a write-ahead log that another connection keeps locked."""
    with closing(sqlite3.connect(tmp_path / "test.db")) as other:
        other.execute("CREATE TABLE pet (id INTEGER)")
        other.execute("BEGIN EXCLUSIVE")
        yield other


def test_request_that_opens_a_locked_file_blocks_nobody_else(
    locked: sqlite3.Connection, tmp_path: Path
):
    database = Sqlite(str(tmp_path / "test.db"))
    story = []

    def read() -> None:
        story.append(database.execute_sql("SELECT count(*) FROM pet").fetchone())
        database.disconnect()

    def end_lock() -> None:
        waiting.wait(asyncio.sleep(HELD_SECONDS))
        story.append("unlocked")
        locked.rollback()

    started = time.monotonic()
    run_requests(read, end_lock)
    assert story == ["unlocked", (0,)]
    assert time.monotonic() - started < 2 * HELD_SECONDS
