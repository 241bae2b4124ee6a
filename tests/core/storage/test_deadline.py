"""A request has one deadline for all that it waits for the stores."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from flask import Flask
from peewee import SQL, OperationalError, Select

from petstore import clock
from petstore.storage.engine import NEVER, Busy, deadline, seconds_left
from petstore.storage.postgresql import Postgresql
from petstore.storage.sqlite import Sqlite
from petstore.timeouts import Limits
from tests.harness.patience import DAY, NOTED

# What they put off for some seconds would be done in other tests.
LIMITS = replace(Limits(), **dict.fromkeys((*NOTED, "outdated_seconds"), DAY))
SECONDS = LIMITS.stores_seconds


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits of the service, as far as nothing depends on the machine."""
    monkeypatch.setattr("petstore.timeouts.LIMITS", LIMITS)


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float], None]]:
    """Advances the clock of deadlines, on which that of a request begins."""
    now = [1000.0]
    monkeypatch.setattr("petstore.clock.monotonic", lambda: now[-1])
    deadline.set(now[-1] + SECONDS)
    yield lambda seconds: now.append(now[-1] + seconds)
    deadline.set(NEVER)


@pytest.fixture
def database(
    database_url: str, new_database: Callable[[str], str]
) -> Iterator[Sqlite | Postgresql]:
    """A database whose connections belong to the test."""
    if database_url.startswith("sqlite"):
        engine = Sqlite(database_url.removeprefix("sqlite:///"))
    else:
        engine = Postgresql(new_database("postgresql"))
    yield engine
    deadline.set(NEVER)
    engine.disconnect()


def test_no_query_of_a_page_begins_after_the_deadline(
    database: Any, wait: Callable[[float], None]
):
    query = Select(columns=[SQL("1")]).bind(database)
    assert database.scan(query) == [(1,)]
    wait(SECONDS)
    with pytest.raises(OperationalError):
        database.scan(query)


def test_nothing_begins_after_the_deadline_and_what_has_begun_is_rolled_back(
    database: Any, wait: Callable[[float], None]
):
    def write_too_slowly() -> None:
        with database.atomic():
            database.execute_sql("INSERT INTO slug VALUES ('late')")
            wait(SECONDS)
            seconds_left(1.0)

    for late in (
        write_too_slowly,
        lambda: seconds_left(1.0),
        lambda: database.execute_sql("DELETE FROM project"),
    ):
        with pytest.raises(Busy):
            late()
    deadline.set(NEVER)
    database.close()
    assert not database.execute_sql("SELECT * FROM slug").fetchall()


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_server_gives_up_before_the_client(
    database: Postgresql, wait: Callable[[float], None]
):
    idle = "idle_in_transaction_session_timeout"
    for seconds, gives_up in (
        (0, ["1500ms", "1800ms", "1500ms"]),
        (SECONDS - 1, ["750ms", "900ms", "1500ms"]),
    ):
        wait(seconds)
        with database.atomic():
            shown = [
                database.execute_sql(f"SHOW {name}").fetchone()[0]
                for name in ("lock_timeout", "statement_timeout", idle)
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


def test_deadline_begins_and_ends_with_each_request(
    app: Flask, wait: Callable[[float], None]
):
    left = []
    deadline.set(NEVER)
    app.before_request(lambda: left.append(seconds_left(math.inf)))
    for _ in range(2):
        app.test_client().get("/healthz")
        wait(5.0)
    assert left == pytest.approx([SECONDS, SECONDS])
    assert seconds_left(math.inf) == math.inf
