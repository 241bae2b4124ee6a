"""Group commit: which requests share a COMMIT, and what ends it early."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from petstore import waiting
from petstore.storage.engines.group_commit import GroupCommit, SharedTransaction
from petstore.waiting import MustNotWait
from tests.harness.loops import go_on_until
from tests.harness.workers import run_requests


class Connection(sqlite3.Connection):
    """A connection that counts its commits and can be made to fail."""

    commits = 0
    fails_at = "never"
    may_commit: threading.Event | None = None

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        """Run a statement."""
        if sql.startswith(self.fails_at):
            raise sqlite3.OperationalError("disk I/O error")
        if sql == "COMMIT":
            self.commits += 1
            if self.may_commit:
                self.may_commit.wait()
        return super().execute(sql, *values)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with an empty table."""
    file = tmp_path / "test.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE pet (id INTEGER)")
    return file


@pytest.fixture
def connections() -> list[Connection]:
    """The connections that the group commit has opened."""
    return []


@pytest.fixture
def group(file: Path, connections: list[Connection]) -> Iterator[GroupCommit]:
    def connect() -> Connection:
        connection = sqlite3.connect(
            file, factory=Connection, isolation_level=None, check_same_thread=False
        )
        connections.append(connection)
        return connection

    group = GroupCommit(connect)
    yield group
    group.close()


def write(
    group: GroupCommit, number: int, fails_at: str | None = None
) -> SharedTransaction:
    """Insert a row; the connection may fail at a later statement."""
    shared = group.begin()
    shared.connection.execute("INSERT INTO pet VALUES (?)", (number,))
    if fails_at:
        shared.connection.fails_at = fails_at
    return shared


def insert(group: GroupCommit, number: int) -> None:
    write(group, number).commit()


def lose(group: GroupCommit, number: int = 1, fails_at: str | None = None) -> None:
    shared = write(group, number, fails_at)
    with pytest.raises(sqlite3.OperationalError):
        shared.commit()


def ids(file: Path) -> list[int]:
    with closing(sqlite3.connect(file)) as connection:
        return [row for (row,) in connection.execute("SELECT id FROM pet ORDER BY id")]


def test_requests_that_come_together_share_a_commit(
    group: GroupCommit, connections: list[Connection], file: Path
):
    run_requests(*(partial(insert, group, number) for number in range(4)))
    assert [connection.commits for connection in connections] == [1]
    assert ids(file) == [0, 1, 2, 3]


def let_commit_end(may_commit: threading.Event) -> None:
    """Let a commit end in the iteration of the event loop that comes next."""
    may_commit.set()
    time.sleep(0.05)


def test_request_that_comes_as_a_commit_ends_does_not_wait_for_another(
    group: GroupCommit, connections: list[Connection], file: Path
):
    def hold(may_commit: threading.Event) -> None:
        shared = write(group, 1)
        connections[0].may_commit = may_commit
        shared.commit()

    async def play() -> None:
        may_commit, loop = threading.Event(), asyncio.get_running_loop()
        first = waiting.start(partial(hold, may_commit))
        await go_on_until(lambda: connections[0].commits)
        later = loop.create_future()
        loop.call_soon(
            lambda: later.set_result(waiting.start(partial(insert, group, 2)))
        )
        let_commit_end(may_commit)
        await asyncio.wait_for(asyncio.gather(first, await later), 5)

    asyncio.run_coroutine_threadsafe(play(), waiting.event_loop()).result()
    assert ids(file) == [1, 2]


def test_rolled_back_request_does_not_undo_the_others(group: GroupCommit, file: Path):
    run_requests(partial(insert, group, 1), lambda: write(group, 2).rollback())
    assert ids(file) == [1]


def test_rolled_back_request_that_may_have_read_what_is_lost_fails_too(
    group: GroupCommit,
):
    def read_and_roll_back() -> None:
        shared = write(group, 2)
        with pytest.raises(sqlite3.OperationalError):
            shared.rollback()

    run_requests(partial(lose, group, 1, "COMMIT"), read_and_roll_back)


def test_request_that_waits_in_its_transaction_is_rolled_back_without_the_others(
    group: GroupCommit, file: Path
):
    def wait() -> None:
        shared = write(group, 1)
        with pytest.raises(MustNotWait):
            waiting.await_result(asyncio.sleep(0))
        shared.rollback()

    run_requests(partial(insert, group, 2), wait, partial(insert, group, 3))
    assert ids(file) == [2, 3]


def test_request_begins_no_transaction_within_its_own(group: GroupCommit, file: Path):
    def nest() -> None:
        shared = write(group, 1)
        with pytest.raises(MustNotWait):
            group.begin()
        shared.commit()

    run_requests(nest)
    assert ids(file) == [1]


@pytest.mark.parametrize("is_alone", [True, False])
def test_request_that_cannot_be_rolled_back_is_never_committed(
    group: GroupCommit, file: Path, is_alone: bool
):
    others = [] if is_alone else [partial(lose, group)]
    run_requests(
        *others,
        lambda: write(group, 2, fails_at="ROLLBACK").rollback(),
        partial(insert, group, 3),
    )
    assert ids(file) == [3]


def test_request_that_cannot_be_released_is_never_committed(
    group: GroupCommit, file: Path
):
    failing = partial(lose, group, 2, fails_at="RELEASE")
    run_requests(partial(lose, group), failing, partial(insert, group, 3))
    assert ids(file) == [3]


def test_request_whose_transaction_sqlite_has_ended_is_never_committed(
    group: GroupCommit, file: Path
):
    def go_on() -> None:
        shared = group.begin()
        shared.connection.execute("ROLLBACK")  # as SQLite does on a full disk
        with pytest.raises(sqlite3.OperationalError):
            shared.commit()

    run_requests(go_on, partial(insert, group, 3))
    assert ids(file) == [3]


def test_failed_commit_is_rolled_back(group: GroupCommit, file: Path):
    def fail_and_go_on() -> None:
        lose(group, 2, fails_at="COMMIT")
        insert(group, 3)

    run_requests(fail_and_go_on)
    assert ids(file) == [3]


def test_transaction_that_sqlite_has_ended_is_not_committed_later(
    group: GroupCommit, file: Path
):
    def meet_a_disk_error() -> None:
        shared = group.begin()
        shared.connection.execute("ROLLBACK")  # as SQLite does on a full disk
        shared.rollback()

    run_requests(partial(lose, group), meet_a_disk_error, partial(insert, group, 3))
    assert ids(file) == [3]
