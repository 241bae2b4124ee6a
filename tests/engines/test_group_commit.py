"""Group commit: which requests share a COMMIT, and what ends it early."""

import sqlite3
from pathlib import Path

import pytest

from petstore.engines.group_commit import GroupCommit
from tests.workers import run_requests


class Connection(sqlite3.Connection):
    """A connection that counts its commits."""

    commits = 0

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        """Run a statement."""
        self.commits += sql == "COMMIT"
        return super().execute(sql, *values)


@pytest.fixture
def connection(tmp_path: Path) -> Connection:
    """A connection to a database with an empty table."""
    connection = sqlite3.connect(
        tmp_path / "test.db",
        factory=Connection,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("CREATE TABLE pet (id INTEGER)")
    return connection


def ids(connection: Connection) -> list[int]:
    return [row for (row,) in connection.execute("SELECT id FROM pet ORDER BY id")]


def test_requests_that_come_together_share_a_commit(connection: Connection):
    group = GroupCommit(lambda: connection)

    def insert(number: int) -> None:
        group.begin().execute("INSERT INTO pet VALUES (?)", (number,))
        group.commit(connection)

    run_requests(*(lambda n=n: insert(n) for n in range(4)))
    assert connection.commits == 1
    assert ids(connection) == [0, 1, 2, 3]


def test_rolled_back_request_does_not_undo_the_others(connection: Connection):
    group = GroupCommit(lambda: connection)

    def insert() -> None:
        group.begin().execute("INSERT INTO pet VALUES (1)")
        group.commit(connection)

    def fail() -> None:
        group.begin().execute("INSERT INTO pet VALUES (2)")
        group.rollback(connection)

    run_requests(insert, fail)
    assert ids(connection) == [1]


def test_transaction_that_sqlite_has_ended_is_not_committed_later(
    connection: Connection,
):
    group = GroupCommit(lambda: connection)

    def lose() -> None:
        group.begin().execute("INSERT INTO pet VALUES (1)")
        with pytest.raises(sqlite3.OperationalError):
            group.commit(connection)

    def meet_a_disk_error() -> None:
        group.begin()
        connection.execute("ROLLBACK")  # as SQLite does by itself on a full disk
        group.rollback(connection)

    def insert() -> None:
        group.begin().execute("INSERT INTO pet VALUES (3)")
        group.commit(connection)

    run_requests(lose, meet_a_disk_error, insert)
    assert connection.commits == 1
    assert ids(connection) == [3]
