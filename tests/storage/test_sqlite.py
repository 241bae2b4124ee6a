"""SQLite files: how they are opened."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import peewee
import pytest

from petstore import waiting
from petstore.storage.engines.sqlite import Sqlite, SqliteCounters
from petstore.waiting import MustNotWait
from tests.harness.broken_disks import unreadable
from tests.harness.workers import both_callers, run_requests

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
        waiting.await_result(asyncio.sleep(HELD_SECONDS))
        story.append("unlocked")
        locked.rollback()

    run_requests(read, end_lock)
    assert story == ["unlocked", (0,)]


def test_command_waits_for_a_locked_file_of_counters(
    locked: sqlite3.Connection, tmp_path: Path, set_limits: Callable[..., None]
):
    set_limits(busy_hit_seconds=0.001)
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


@both_callers
def test_what_cannot_be_rolled_back_is_neither_committed_nor_announced(
    run: Callable, tmp_path: Path
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

    run(lambda: database.execute_sql("CREATE TABLE pet (id INTEGER)"))
    run(fail, insert)
    assert database.execute_sql("SELECT id FROM pet").fetchall() == [(2,)]
    assert announced == []
    database.disconnect()


@pytest.fixture
def pets(tmp_path: Path) -> Iterator[Sqlite]:
    """A database whose table nobody has read yet."""
    file = tmp_path / "test.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("CREATE TABLE pet (id INTEGER)")
        connection.execute("CREATE TABLE toy (id INTEGER)")
    database = Sqlite(str(file))
    yield database
    database.disconnect()


def insert_on_a_broken_disk(database: Sqlite, number: int) -> None:
    with unreadable(database.file):
        database.execute_sql("INSERT INTO pet VALUES (?)", (number,))


def nest(database: Sqlite) -> None:
    with database.writing(1), database.writing(1):
        insert_on_a_broken_disk(database, 1)


def nest_deeper(database: Sqlite) -> None:
    with database.atomic(), database.atomic(), database.savepoint():
        insert_on_a_broken_disk(database, 1)


def commit_nevertheless(database: Sqlite) -> None:
    with database.atomic(), suppress(peewee.OperationalError):
        insert_on_a_broken_disk(database, 1)


def write_nevertheless(database: Sqlite) -> None:
    with database.atomic():
        with suppress(peewee.OperationalError), database.atomic():
            insert_on_a_broken_disk(database, 1)
        database.execute_sql("INSERT INTO pet VALUES (2)")


@both_callers
@pytest.mark.parametrize(
    "work", [nest, nest_deeper, commit_nevertheless, write_nevertheless]
)
def test_transaction_that_sqlite_has_rolled_back_is_over_with_the_first_error(
    pets: Sqlite, run: Callable, work: Callable[[Sqlite], None]
):
    failures = []

    def fail() -> None:
        with pytest.raises(peewee.OperationalError) as caught:
            work(pets)
        failures.append((str(caught.value), pets.is_outage(caught.value)))
        assert not pets.in_transaction()

    run(fail, lambda: pets.execute_sql("INSERT INTO pet VALUES (3)"))
    assert failures == [("disk I/O error", True)]
    assert pets.execute_sql("SELECT id FROM pet").fetchall() == [(3,)]


def test_requests_that_share_a_failed_transaction_fail_as_well(pets: Sqlite):
    def insert(table: str) -> None:
        with pets.atomic(), pets.atomic():
            pets.execute_sql(f"INSERT INTO {table} VALUES (1)")

    def insert_on_a_broken_disk() -> None:
        with unreadable(pets.file):
            insert("toy")

    def fail(work: Callable[[], None]) -> None:
        with pytest.raises(peewee.OperationalError, match="disk I/O error"):
            work()

    run_requests(
        partial(fail, partial(insert, "pet")),
        partial(fail, insert_on_a_broken_disk),
        lambda: pets.execute_sql("INSERT INTO pet VALUES (3)"),
    )
    assert pets.execute_sql("SELECT id FROM pet").fetchall() == [(3,)]


@pytest.fixture
def tallies(tmp_path: Path) -> Iterator[SqliteCounters]:
    """Counters in a file of their own."""
    file = tmp_path / "counters.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE tally (id INTEGER)")
    database = SqliteCounters(str(file))
    yield database
    database.disconnect()


INSERT, COUNT = "INSERT INTO pet VALUES (?)", "INSERT INTO tally VALUES (1)"


def await_a_moment() -> None:
    waiting.await_result(asyncio.sleep(0))


def wait_at_once(pets: Sqlite, _tallies: Sqlite) -> None:
    with pets.writing(1):
        pets.execute_sql(INSERT, (1,))
        await_a_moment()


def wait_in_a_nested_block(pets: Sqlite, _tallies: Sqlite) -> None:
    with pets.atomic(), pets.writing(1):
        pets.execute_sql(INSERT, (1,))
        await_a_moment()


def wait_after_a_nested_block(pets: Sqlite, _tallies: Sqlite) -> None:
    with pets.atomic():
        with pets.atomic(), pets.savepoint():
            pets.execute_sql(INSERT, (1,))
        await_a_moment()


def begin_another(pets: Sqlite, tallies: Sqlite) -> None:
    with pets.atomic():
        pets.execute_sql(INSERT, (1,))
        with tallies.atomic():
            tallies.execute_sql(COUNT)


def wait_after_another_was_refused(pets: Sqlite, tallies: Sqlite) -> None:
    with pets.atomic():
        pets.execute_sql(INSERT, (1,))
        with suppress(MustNotWait), tallies.atomic():
            pass
        await_a_moment()


def count(pets: Sqlite, tallies: Sqlite) -> None:
    with pets.atomic():
        pets.execute_sql(INSERT, (1,))
        tallies.execute_sql(COUNT)


@both_callers
@pytest.mark.parametrize(
    "work",
    [
        wait_at_once,
        wait_in_a_nested_block,
        wait_after_a_nested_block,
        begin_another,
        wait_after_another_was_refused,
        count,
    ],
)
def test_transaction_that_may_wait_is_refused_and_leaves_nothing(
    pets: Sqlite, tallies: Sqlite, run: Callable, work: Callable[[Sqlite, Sqlite], None]
):
    def fail() -> None:
        with pytest.raises(MustNotWait, match="in a transaction on SQLite"):
            work(pets, tallies)
        await_a_moment()  # it may, now

    run(fail, lambda: pets.execute_sql(INSERT, (2,)))
    assert pets.execute_sql("SELECT id FROM pet").fetchall() == [(2,)]
    assert tallies.execute_sql("SELECT id FROM tally").fetchall() == []


def commit(pets: Sqlite) -> None:
    with pets.atomic():
        pets.execute_sql(INSERT, (1,))


def roll_back(pets: Sqlite) -> None:
    with pets.atomic():
        pets.execute_sql(INSERT, (1,))
        raise ZeroDivisionError


def fail_to_roll_back(pets: Sqlite) -> None:
    with pets.atomic():
        pets.execute_sql(INSERT, (1,))
        pets.connection().set_authorizer(deny_rollback)
        raise ZeroDivisionError


def fail_to_commit(pets: Sqlite) -> None:
    with pets.atomic():
        pets.connection().execute("ROLLBACK")  # as SQLite does on a full disk


@both_callers
@pytest.mark.parametrize(
    "end", [commit, roll_back, fail_to_roll_back, fail_to_commit, nest]
)
def test_call_may_wait_again_however_its_transaction_has_ended(
    pets: Sqlite, run: Callable, end: Callable[[Sqlite], None]
):
    def call() -> None:
        with suppress(ZeroDivisionError, peewee.OperationalError):
            end(pets)
        await_a_moment()
        story.append("awaited")

    story = []
    run(call)
    assert story == ["awaited"]
