"""A request has one deadline for all that it waits for the stores."""

import asyncio
import math
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import peewee
import psycopg
import pytest
from flask import Flask

from petstore import waiting
from petstore.storage.engines.batches import Batches
from petstore.storage.engines.connection import PostgresConnection
from petstore.storage.engines.postgresql import Postgresql
from petstore.storage.engines.sqlite import Sqlite
from petstore.storage.engines.waiting import (
    Crowded,
    WaitQueue,
    begin_deadline,
    current_deadline,
    end_deadline,
    renew_deadline,
)
from petstore.timeouts import Limits
from tests.harness.loops import Loop, move_clock, settle

LIMITS = Limits()
SECONDS = LIMITS.stores_seconds
STEP_SECONDS = 0.01
INSERT = "INSERT INTO pet VALUES (1)"
BUSY = (peewee.OperationalError, sqlite3.OperationalError)


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits of the service, as far as nothing depends on the machine."""
    monkeypatch.setattr("petstore.timeouts.LIMITS", LIMITS)


class Wall:
    """The clock of deadlines, where there is no loop whose clock a test moves."""

    now = 1000.0


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wall]:
    """A clock that stands still; the deadline of a request begins on it."""
    wall = Wall()
    monkeypatch.setattr("petstore.clock.monotonic", lambda: wall.now)
    begin_deadline()
    yield wall
    end_deadline()


@pytest.fixture
def virtual(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines come by the clock of the loop."""
    loop_time = lambda: asyncio.get_running_loop().time()  # noqa: E731
    monkeypatch.setattr("petstore.clock.monotonic", loop_time)


def run(play: Callable[[], Coroutine[None, None, None]]) -> None:
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(play())


async def pass_time(seconds: float) -> None:
    for _ in range(round(seconds / STEP_SECONDS)):
        await move_clock(STEP_SECONDS)


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[str]:
    """An SQLite file that another process keeps locked."""
    file = str(tmp_path / "test.db")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = wal")
        other.execute("CREATE TABLE pet (id INTEGER)")
        other.execute("BEGIN IMMEDIATE")
        yield file


def fail_twice(database: peewee.Database, failed_at: list[float]) -> None:
    """Write, and write again, to a file that stays locked."""
    for _ in range(2):
        with pytest.raises(BUSY):
            database.execute_sql(INSERT)
        failed_at.append(asyncio.get_event_loop().time())


@pytest.mark.usefixtures("virtual")
@pytest.mark.parametrize("crowd", [1, 20])
def test_second_write_on_a_locked_file_gets_what_the_first_has_left(
    locked: str, crowd: int
):
    def request() -> None:
        begin_deadline()
        fail_twice(database, failed_at)

    async def play() -> None:
        for _ in range(crowd):
            waiting.start(request)
        await pass_time(2 * SECONDS)

    database, failed_at = Sqlite(locked), []
    run(play)
    assert len(failed_at) == 2 * crowd
    assert LIMITS.busy_seconds <= min(failed_at)
    assert max(failed_at) <= SECONDS + 2 * LIMITS.check_seconds


@pytest.mark.usefixtures("virtual")
def test_background_task_has_no_deadline(locked: str):
    async def play() -> None:
        begin_deadline()  # a call inherits nothing from whoever starts it
        waiting.start(fail_twice, database, failed_at)
        await pass_time(3 * SECONDS)

    database, failed_at = Sqlite(locked), []
    run(play)
    assert failed_at == pytest.approx([2.0, 4.0], abs=2 * LIMITS.check_seconds)


@pytest.mark.usefixtures("virtual")
def test_read_with_little_time_left_does_not_wait_behind_others(locked: str):
    def write(name: str, left: float) -> None:
        begin_deadline()
        asyncio.get_event_loop().now += SECONDS - left
        with pytest.raises(BUSY):
            database._retry(database.connection().execute, "BEGIN IMMEDIATE")
        ended.append((name, left))

    async def play() -> None:
        database.connection()
        for name, left in (("long", 2.0), ("short", 0.5), ("other", 1.0)):
            waiting.start(write, name, left)
        await pass_time(SECONDS)
        database.disconnect()

    database, ended = Sqlite(locked), []
    run(play)
    assert [name for name, _ in ended] == ["short", "other", "long"]


def test_command_on_a_locked_file_ends_even_if_the_clock_stands_still(
    locked: str, wall: Wall, monkeypatch: pytest.MonkeyPatch
):
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    database = Sqlite(locked)
    with pytest.raises(BUSY):
        database.execute_sql(INSERT)
    database.disconnect()
    assert len(pauses) < LIMITS.busy_seconds / LIMITS.retry_seconds


@pytest.mark.usefixtures("virtual")
def test_request_leaves_a_queue_at_its_deadline():
    async def play() -> None:
        queue: WaitQueue[str] = WaitQueue(lambda _waited, _stalled: False)
        ends = asyncio.get_running_loop().time() + 0.3
        short = asyncio.create_task(queue.wait(("project",), deadline=ends))
        long = asyncio.create_task(queue.wait(("project",)))
        await pass_time(0.25)
        assert not short.done()
        await pass_time(0.1)
        assert type(short.exception()) is Crowded
        queue.serve("connection", lambda _: True)
        assert await long == "connection"

    run(play)


@pytest.mark.usefixtures("virtual")
def test_request_after_its_deadline_takes_no_place_in_a_queue():
    async def play() -> None:
        queue: WaitQueue[str] = WaitQueue(lambda _waited, _stalled: False)
        with pytest.raises(Crowded):
            queue.wait(("project",), deadline=asyncio.get_running_loop().time())
        assert not len(queue)

    run(play)


class SlowPool:
    """A pool whose connection inserts what it gets, in the end."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.may_go_on = asyncio.Event()

    async def acquire_to_write(self, _key: object, _deadline: float) -> str:
        await self.may_go_on.wait()
        return "connection"

    def release(self, _connection: str) -> None:
        pass

    def start(self, coroutine: Coroutine[None, None, None]) -> None:
        self.task = self.loop.create_task(coroutine)


@pytest.mark.usefixtures("virtual")
def test_request_leaves_a_batch_at_its_deadline_and_the_others_are_inserted():
    async def insert_all(*arguments: Any) -> list[int]:
        deadlines.append(arguments[-1])
        return [row["id"] for row in arguments[2]]

    async def play() -> None:
        pool = SlowPool()
        batches, now = Batches(pool, insert_all), asyncio.get_running_loop().time()
        ends = [math.inf, now + 0.3, now + 0.6]
        tasks = [
            asyncio.create_task(batches.insert("key", "INSERT", {"id": number}, end))
            for number, end in enumerate(ends)
        ]
        await settle()
        await pass_time(0.35)
        assert type(tasks[1].exception()) is Crowded
        pool.may_go_on.set()
        assert [await tasks[0], await tasks[2]] == [0, 2]

    deadlines: list[float] = []
    run(play)
    assert deadlines == [math.inf, math.inf]  # a shared one belongs to nobody


@pytest.fixture
def postgresql_database(postgresql_url: str) -> Iterator[Postgresql]:
    database = Postgresql(postgresql_url, prepares_statements=True)
    yield database
    end_deadline()
    database.disconnect()


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    """The statements that are sent to PostgreSQL, and how long each may take."""

    def record(name: str) -> None:
        send = getattr(PostgresConnection, name)

        async def recorded(self: Any, sql: str, *values: Any, timeout: Any) -> Any:
            statements.append((sql, timeout))
            return await send(self, sql, *values, timeout=timeout)

        monkeypatch.setattr(PostgresConnection, name, recorded)

    statements: list[tuple[str, float]] = []
    for name in ("execute", "fetch", "fetchmany"):
        record(name)
    return statements


def test_read_gets_what_the_statements_before_it_have_left(
    postgresql_database: Postgresql, statements: list[tuple[str, float]], wall: Wall
):
    left = [SECONDS, 1.5, 0.5]
    for seconds in left:
        wall.now = 1000.0 + SECONDS - seconds
        postgresql_database.execute_sql("SELECT 1")
    assert [seconds for _, seconds in statements] == pytest.approx([1.0, 1.0, 0.5])
    wall.now = 1000.0 + SECONDS
    with pytest.raises(Crowded):
        postgresql_database.execute_sql("SELECT 1")
    assert len(statements) == 3


def test_server_gives_up_a_statement_before_the_deadline(
    postgresql_database: Postgresql, wall: Wall
):
    wall.now += SECONDS - 1.0
    with postgresql_database.atomic():
        limits = [
            row
            for name in ("lock_timeout", "statement_timeout")
            for row in postgresql_database.execute_sql(f"SHOW {name}")
        ]
    assert limits == [("750ms",), ("900ms",)]


def test_write_has_its_usual_limits_at_first(
    postgresql_database: Postgresql, statements: list[tuple[str, float]], wall: Wall
):
    with postgresql_database.atomic():
        [(limit,)] = postgresql_database.execute_sql("SHOW lock_timeout")
    assert limit == "1500ms"
    assert [seconds for _, seconds in statements] == [2.0] * 3  # BEGIN, SHOW, COMMIT


def test_commit_that_does_not_arrive_by_the_deadline_never_does(
    postgresql_database: Postgresql, statements: list[tuple[str, float]], wall: Wall
):
    with postgresql_database.atomic():
        wall.now += SECONDS - 1.0
    assert statements[-2:] == [
        ("SET LOCAL idle_in_transaction_session_timeout = '500ms'", pytest.approx(0.5)),
        ("COMMIT", pytest.approx(0.5)),
    ]


def test_transaction_is_rolled_back_after_the_deadline(
    postgresql_database: Postgresql, postgresql: psycopg.Connection, wall: Wall
):
    def write_too_slowly() -> None:
        with postgresql_database.atomic():
            postgresql_database.execute_sql("INSERT INTO slug VALUES ('late')")
            wall.now += SECONDS

    with pytest.raises(Crowded):
        write_too_slowly()
    assert not postgresql.execute("SELECT * FROM slug WHERE slug = 'late'").fetchall()
    begin_deadline()
    assert list(postgresql_database.execute_sql("SELECT 1")) == [(1,)]


def test_command_waits_for_as_long_as_it_takes(
    postgresql_database: Postgresql, statements: list[tuple[str, float]]
):
    postgresql_database.extend_timeouts()
    with postgresql_database.atomic():
        postgresql_database.execute_sql("SELECT 1")
    assert {seconds for _, seconds in statements} == {None}


def test_deadline_begins_and_ends_with_each_request(app: Flask, wall: Wall):
    ends = []
    end_deadline()
    app.before_request(lambda: ends.append(current_deadline()))
    for seconds in (0.0, 5.0):
        wall.now = 1000.0 + seconds
        app.test_client().get("/healthz")
    assert ends == [1000.0 + SECONDS, 1005.0 + SECONDS]
    assert current_deadline() == math.inf


def test_deadline_begins_anew_after_a_wait_for_dns(wall: Wall):
    wall.now += SECONDS
    renew_deadline()
    assert current_deadline() == wall.now + SECONDS
    end_deadline()
    renew_deadline()
    assert current_deadline() == math.inf
