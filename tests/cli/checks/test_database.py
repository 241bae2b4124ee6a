"""Checks of the database: availability, migrations, clock and file modes."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from petstore import clock as service_clock
from petstore.cli.checks import database
from petstore.cli.checks.database import check_clock, check_database, check_files
from petstore.storage.database import db
from tests.harness.clocks import Clock

NOWHERE = "postgresql://u:Geheimnis@127.0.0.1:1/d"


def test_migrated_database_is_ok(opened: Callable, database_url: str):
    status, message = check_database(opened(database_url))
    assert status == "ok"
    assert message.endswith("is migrated")


def test_unmigrated_database_is_wrong(opened: Callable, unmigrated_url: str):
    settings = opened(unmigrated_url)
    db.execute_sql("SELECT 1")  # creates the SQLite file
    status, message = check_database(settings)
    assert status == "wrong"
    assert "run `flask migrate` first" in message


def test_missing_sqlite_file_is_not_created(opened: Callable, tmp_path: Path):
    status, _ = check_database(opened(f"sqlite:///{tmp_path}/new.db"))
    assert status == "wrong"
    assert not list(tmp_path.iterdir())


def test_unreachable_server_is_reported_without_its_password(opened: Callable):
    status, message = check_database(opened(NOWHERE))
    assert status == "wrong"
    assert "DATABASE_URL: " in message
    assert "Geheimnis" not in message


def test_postgresql_that_is_too_old_is_wrong(
    opened: Callable, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(database, "OLDEST_POSTGRESQL", 99)
    status, message = check_database(opened(postgresql_url))
    assert status == "wrong"
    assert message.endswith("; use PostgreSQL 99 or newer")


@pytest.mark.parametrize(
    ("seconds", "status"), [(1, "ok"), (-3, "wrong"), (5, "wrong")]
)
def test_clock_more_than_two_seconds_off_is_wrong(
    opened: Callable,
    postgresql_url: str,
    postgresql: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
    seconds: int,
    status: str,
):
    theirs = Clock()
    theirs.tell_postgresql(postgresql)
    ours = theirs.now_ms + seconds * 1000
    monkeypatch.setattr(service_clock, "now_ms", lambda: ours)
    message = f"{abs(seconds) * 1000} ms apart"
    found = check_clock(opened(postgresql_url))
    assert found[0] == status
    assert message in found[1]


def test_clock_of_sqlite_and_files_of_postgresql_are_ok(
    opened: Callable, sqlite_url: str, postgresql_url: str
):
    assert check_clock(opened(sqlite_url))[0] == "ok"
    assert check_files(opened(postgresql_url))[0] == "ok"


def test_clock_of_an_unreachable_server_gives_a_warning(opened: Callable):
    assert check_clock(opened(NOWHERE))[0] == "warning"


def test_files_readable_by_others_are_wrong(opened: Callable, sqlite_url: str):
    settings = opened(sqlite_url)
    for mode, status in ((0o600, "ok"), (0o640, "wrong"), (0o604, "wrong")):
        Path(db.database).chmod(mode)
        assert check_files(settings)[0] == status
