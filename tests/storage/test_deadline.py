"""A request has one deadline for all that it waits for the stores."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from flask import Flask

from petstore import clock
from petstore.storage.engine import NEVER, Busy, deadline, seconds_left
from petstore.storage.postgresql import Postgresql
from petstore.storage.sqlite import Sqlite
from petstore.timeouts import Limits

LIMITS = Limits()
SECONDS = LIMITS.stores_seconds


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits of the service, as far as nothing depends on the machine."""
    monkeypatch.setattr("petstore.timeouts.LIMITS", LIMITS)


class Wall:
    """The clock of deadlines."""

    now = 1000.0


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wall]:
    """A clock that stands still; the deadline of a request begins on it."""
    wall = Wall()
    monkeypatch.setattr("petstore.clock.monotonic", lambda: wall.now)
    deadline.set(wall.now + SECONDS)
    yield wall
    deadline.set(NEVER)


@pytest.fixture
def database(
    database_url: str, new_database: Callable[[str], str]
) -> Iterator[Sqlite | Postgresql]:
    """A database whose connections belong to the test."""
    if database_url.startswith("sqlite"):
        engine = Sqlite(database_url.removeprefix("sqlite:///"))
    else:
        engine = Postgresql(new_database("postgresql"), prepares_statements=True)
    yield engine
    deadline.set(NEVER)
    engine.disconnect()


def test_nothing_begins_after_the_deadline(database: Any, wall: Wall):
    database.execute_sql("SELECT 1").fetchall()
    wall.now += SECONDS
    with pytest.raises(Busy):
        seconds_left(1.0)
    with pytest.raises(Busy):
        database.execute_sql("DELETE FROM project")


def test_transaction_is_rolled_back_after_the_deadline(database: Any, wall: Wall):
    def write_too_slowly() -> None:
        with database.atomic():
            database.execute_sql("INSERT INTO slug VALUES ('late')")
            wall.now += SECONDS
            seconds_left(1.0)

    with pytest.raises(Busy):
        write_too_slowly()
    deadline.set(NEVER)
    database.close()
    assert not database.execute_sql("SELECT * FROM slug").fetchall()


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    ("waited", "gives_up"),
    [(0, ["1500ms", "1800ms"]), (SECONDS - 1, ["750ms", "900ms"])],
)
def test_server_gives_up_before_the_client(
    database: Postgresql, wall: Wall, waited: float, gives_up: list[str]
):
    wall.now += waited
    with database.atomic():
        shown = [
            database.execute_sql(f"SHOW {name}").fetchone()[0]
            for name in ("lock_timeout", "statement_timeout")
        ]
    assert shown == gives_up
    assert LIMITS.server_statement_seconds < LIMITS.statement_seconds


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_late_statement_is_cancelled_and_its_connection_left(database: Postgresql):
    deadline.set(clock.monotonic() + SECONDS)
    connection = database.connection()
    connection.limit = 0.2
    with pytest.raises(psycopg.OperationalError, match="the server took too long"):
        connection.execute("SELECT pg_sleep(60)")
    database.close()
    assert database.execute_sql("SELECT 1").fetchall() == [(1,)]
    assert database.connection() is not connection


def test_deadline_begins_and_ends_with_each_request(app: Flask, wall: Wall):
    left = []
    deadline.set(NEVER)
    app.before_request(lambda: left.append(seconds_left(math.inf)))
    for _ in range(2):
        app.test_client().get("/healthz")
        wall.now += 5.0
    assert left == pytest.approx([SECONDS, SECONDS])
    assert seconds_left(math.inf) == math.inf
