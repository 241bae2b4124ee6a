"""SQLite: a locked file, failed transactions, and who waits for whom."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import peewee
import pytest

from petstore.storage.engine import Busy
from petstore.storage.sqlite import Sqlite
from tests.harness.broken_disks import unreadable
from tests.harness.databases import locked

HELD_SECONDS = 0.3
INSERT, SELECT = "INSERT INTO pet VALUES (?)", "SELECT id FROM pet"


@pytest.fixture
def pets(tmp_path: Path) -> Iterator[Sqlite]:
    """A database with an empty table."""
    database = Sqlite(str(tmp_path / "test.db"))
    database.create()
    database.execute_sql("CREATE TABLE pet (id INTEGER)")
    yield database
    database.disconnect()


def test_locked_file_is_waited_for_and_is_busy_if_it_stays_so(
    pets: Sqlite, set_limits: Callable[..., None]
):
    with closing(sqlite3.connect(pets.file, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        unlock = threading.Timer(HELD_SECONDS, other.rollback)
        unlock.start()
        pets.execute_sql(INSERT, (1,))
        unlock.join()
    set_limits(busy_seconds=0.1)
    impatient = Sqlite(str(pets.file))
    with locked(str(pets.file)), pytest.raises(Busy):
        impatient.execute_sql(INSERT, (2,))
    assert pets.execute_sql(SELECT).fetchall() == [(1,)]
    impatient.disconnect()


def test_those_that_wait_to_write_keep_no_connection(pets: Sqlite):
    def write() -> None:
        pets.execute_sql(SELECT).fetchall()
        with pets.atomic():
            pets.execute_sql(INSERT, (1,))
        pets.close()

    writers = [threading.Thread(target=write) for _ in range(40)]
    with pets.atomic():
        for writer in writers:
            writer.start()
        time.sleep(HELD_SECONDS)
        other = threading.Thread(target=lambda: pets.execute_sql(SELECT).fetchall())
        other.start()
        other.join(HELD_SECONDS)
        assert not other.is_alive()
    for writer in writers:
        writer.join()
    assert len(pets.execute_sql(SELECT).fetchall()) == len(writers)


def deny_rollback(action: int, argument: str, *_: object) -> int:
    is_rollback = argument == "ROLLBACK"
    if is_rollback and action in (sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def test_what_cannot_be_rolled_back_is_neither_committed_nor_announced(pets: Sqlite):
    announced = []
    with suppress(ZeroDivisionError), pets.atomic():
        pets.execute_sql(INSERT, (1,))
        pets.after_commit(lambda: announced.append(1))
        pets.connection().set_authorizer(deny_rollback)
        raise ZeroDivisionError
    pets.close()
    pets.execute_sql(INSERT, (2,))
    assert pets.execute_sql(SELECT).fetchall() == [(2,)]
    assert announced == []


def insert_on_a_broken_disk(database: Sqlite, number: int) -> None:
    with unreadable(database.file):
        database.execute_sql(INSERT, (number,))


def nest(database: Sqlite) -> None:
    with database.atomic(), database.atomic():
        insert_on_a_broken_disk(database, 1)


def commit_nevertheless(database: Sqlite) -> None:
    with database.atomic(), suppress(peewee.OperationalError):
        insert_on_a_broken_disk(database, 1)


def write_nevertheless(database: Sqlite) -> None:
    with database.atomic():
        with suppress(peewee.OperationalError), database.atomic():
            insert_on_a_broken_disk(database, 1)
        database.execute_sql(INSERT, (2,))


@pytest.mark.parametrize("work", [nest, commit_nevertheless, write_nevertheless])
def test_transaction_that_sqlite_has_rolled_back_is_over(
    pets: Sqlite, work: Callable[[Sqlite], None]
):
    database = Sqlite(str(pets.file))  # which has read no page of the file yet
    with pytest.raises(peewee.OperationalError) as caught:
        work(database)
    assert database.is_outage(caught.value)
    assert not database.in_transaction()
    database.execute_sql(INSERT, (3,))
    assert database.execute_sql(SELECT).fetchall() == [(3,)]
    database.disconnect()
