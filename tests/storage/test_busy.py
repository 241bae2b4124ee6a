"""Requests that wait while another process has locked an SQLite file."""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from pathlib import Path

import peewee
import pytest

from petstore import waiting
from petstore.storage.engines.sqlite import Sqlite, SqliteCounters
from petstore.storage.engines.waiting import ClientGone, Crowded
from tests.harness.loops import Loop, move_clock, move_clock_until, settle

CROWD = 400
TRIES = 50
RETRY_SECONDS = 0.001
INSERT = "INSERT INTO pet VALUES (1)"


@pytest.fixture(autouse=True)
def limits(set_limits: Callable[..., None]) -> None:
    set_limits(
        queue_length=CROWD,
        busy_hit_seconds=TRIES * RETRY_SECONDS,
        retry_seconds=RETRY_SECONDS,
        check_seconds=RETRY_SECONDS,
        busy_seconds=TRIES * RETRY_SECONDS,
    )


@pytest.fixture(autouse=True)
def deadlines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines come by the clock that a test moves, however busy the machine is."""
    loop_time = lambda: asyncio.get_running_loop().time()  # noqa: E731
    monkeypatch.setattr("petstore.clock.monotonic", loop_time)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "test.db")


@pytest.fixture
def lock(file: str) -> Iterator[sqlite3.Connection]:
    """Another process, which can write; it has locked the file."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = wal")
        other.execute("CREATE TABLE pet (id INTEGER)")
        other.execute("BEGIN IMMEDIATE")
        yield other


class Requests:
    """Requests that insert a row, and the errors of those that have failed."""

    def __init__(self, database: peewee.Database, count: int) -> None:
        self.errors: list[Exception | None] = []
        database.connection()
        self.tasks = [waiting.start(self._insert, database) for _ in range(count)]

    def _insert(self, database: peewee.Database) -> None:
        try:
            database.execute_sql(INSERT)
        except peewee.PeeweeException as error:
            self.errors.append(error)
        else:
            self.errors.append(None)


def run(play: Callable[[], Coroutine[None, None, None]]) -> None:
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(play())


@pytest.mark.parametrize("engine", [SqliteCounters, Sqlite])
def test_one_try_at_a_time_serves_all_that_wait(
    engine: type[Sqlite], file: str, lock: sqlite3.Connection
):
    async def play() -> None:
        requests = Requests(database, CROWD)
        await settle()
        before = asyncio.get_running_loop().calls
        for _ in range(TRIES - 10):
            await move_clock(RETRY_SECONDS)
        assert asyncio.get_running_loop().calls - before < 10 * TRIES
        lock.rollback()
        await move_clock_until(lambda: len(requests.errors) == CROWD, RETRY_SECONDS)
        assert set(requests.errors) == {None}
        database.disconnect()

    database = engine(file)
    run(play)
    assert lock.execute("SELECT count(*) FROM pet").fetchone() == (CROWD,)


@pytest.mark.parametrize("engine", [SqliteCounters, Sqlite])
def test_all_that_wait_time_out_together(
    engine: type[Sqlite], file: str, lock: sqlite3.Connection
):
    async def play() -> None:
        requests = Requests(database, CROWD)
        # The request that waits first may try for as long, once the one before it ends.
        for _ in range(2 * TRIES + 10):
            await move_clock(RETRY_SECONDS)
        assert len(requests.errors) == CROWD
        assert all(isinstance(e, peewee.OperationalError) for e in requests.errors)

    database = engine(file)
    run(play)


@pytest.mark.parametrize("engine", [SqliteCounters, Sqlite])
def test_suspended_process_lets_nobody_time_out(
    engine: type[Sqlite], file: str, lock: sqlite3.Connection
):
    async def play() -> None:
        requests = Requests(database, CROWD)
        await settle()
        await move_clock(100 * TRIES * RETRY_SECONDS)
        lock.rollback()
        await move_clock_until(lambda: len(requests.errors) == CROWD, RETRY_SECONDS)
        assert set(requests.errors) == {None}
        database.disconnect()

    database = engine(file)
    run(play)


@pytest.mark.parametrize("engine", [SqliteCounters, Sqlite])
def test_full_queue_refuses_at_once(
    engine: type[Sqlite], file: str, lock: sqlite3.Connection
):
    async def play() -> None:
        requests = Requests(database, CROWD + 10)
        await settle()
        assert {type(error) for error in requests.errors} == {Crowded}
        assert 9 <= len(requests.errors) <= 10  # on the data, one does not wait in line
        for _ in range(TRIES + 10):
            await move_clock(RETRY_SECONDS)

    database = engine(file)
    run(play)


@pytest.mark.parametrize("engine", [SqliteCounters, Sqlite])
def test_request_whose_client_has_gone_waits_for_nothing(
    engine: type[Sqlite], file: str, lock: sqlite3.Connection
):
    async def play() -> None:
        requests = Requests(database, 3)
        await settle()
        for task in requests.tasks[:2]:
            waiting.abandon(task)
        await settle()
        assert [type(error) for error in requests.errors] == [ClientGone] * 2
        lock.rollback()
        await move_clock_until(lambda: len(requests.errors) == 3, RETRY_SECONDS)
        assert requests.errors[2] is None
        database.disconnect()

    database = engine(file)
    run(play)


@pytest.mark.parametrize("engine", [SqliteCounters, Sqlite])
def test_request_whose_client_had_gone_before_is_never_carried_out(
    engine: type[Sqlite], file: str, lock: sqlite3.Connection
):
    async def play() -> None:
        database.connection()
        with pytest.raises(ClientGone):
            await leave_then_insert(database)
        lock.rollback()
        for _ in range(10):
            await move_clock(RETRY_SECONDS)
        requests = Requests(database, 1)
        await move_clock_until(lambda: requests.errors, RETRY_SECONDS)
        assert requests.errors == [None]
        database.disconnect()

    database = engine(file)
    run(play)
    assert lock.execute("SELECT count(*) FROM pet").fetchone() == (1,)


async def leave_then_insert(database: peewee.Database) -> None:
    """Insert a row for a client that leaves while the request awaits something else."""

    def insert() -> None:
        waiting.await_result(asyncio.sleep(0))
        try:
            database.execute_sql(INSERT)
        except peewee.PeeweeException as error:
            ended.set_exception(error)
        else:
            ended.set_result(None)

    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    waiting.abandon(waiting.start(insert))
    await ended
