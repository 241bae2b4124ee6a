"""SQLite files: how they are opened."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from petstore.server import concurrency
from petstore.storage.engines.sqlite import Sqlite, SqliteCounters
from tests.harness.workers import run_requests

HELD_SECONDS = 0.3


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A file without a write-ahead log that another connection keeps locked."""
    path = tmp_path / "test.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as other:
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
        concurrency.await_result(asyncio.sleep(HELD_SECONDS))
        story.append("unlocked")
        locked.rollback()

    run_requests(read, end_lock)
    assert story == ["unlocked", (0,)]


def test_command_waits_for_a_locked_file_of_counters(
    locked: sqlite3.Connection, tmp_path: Path, set_limits: Callable[..., None]
):
    set_limits(hit_tries=1)
    database = SqliteCounters(str(tmp_path / "test.db"))
    database.extend_timeouts()
    unlock = threading.Timer(HELD_SECONDS, locked.rollback)
    unlock.start()
    assert database.execute_sql("SELECT count(*) FROM pet").fetchone() == (0,)
    unlock.join()
    database.disconnect()


def deny_rollback(action: int, argument: str, *_: object) -> int:
    is_rollback = argument == "ROLLBACK"
    if is_rollback and action in (sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


@pytest.mark.parametrize("call", [run_requests, lambda *calls: [c() for c in calls]])
def test_what_cannot_be_rolled_back_is_neither_committed_nor_announced(
    call: Callable, tmp_path: Path
):
    database = Sqlite(str(tmp_path / "test.db"))
    announced = []

    def fail() -> None:
        with suppress(ZeroDivisionError), database.atomic():
            database.execute_sql("INSERT INTO pet VALUES (1)")
            database.after_commit(lambda: announced.append(1))
            database.connection().set_authorizer(deny_rollback)
            raise ZeroDivisionError

    def insert() -> None:
        database.execute_sql("INSERT INTO pet VALUES (2)")
        database.disconnect()

    call(lambda: database.execute_sql("CREATE TABLE pet (id INTEGER)"))
    call(fail, insert)
    assert database.execute_sql("SELECT id FROM pet").fetchall() == [(2,)]
    assert announced == []
    database.disconnect()
