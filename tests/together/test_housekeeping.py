"""Outdated rows are deleted in the background, a few at a time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from flask.testing import FlaskClient
from peewee import Model

from petstore.clock import MS_PER_DAY, MS_PER_MINUTE
from petstore.concurrency import Delayed
from petstore.extensions.dashboard.models import FILE_KEPT_MS, Session, Upload
from petstore.extensions.monitoring.models import FailedRequest, KeyUsage
from petstore.models.activity import Event
from petstore.models.keys import KEEP_ENDED_MS, Key
from petstore.models.projects import Project
from petstore.models.stored_responses import StoredResponse
from petstore.quotas.database import Counter, Strike
from petstore.storage import counters, db
from petstore.upkeep import housekeeping
from petstore.web import request_log
from tests.harness.clocks import START_MS
from tests.harness.databases import each_engine
from tests.harness.waiting import wait_until

database_url = each_engine

TODAY = START_MS // MS_PER_DAY
MANY = 450  # rows, which take three batches
THREADS = 4
FAILURE = dict.fromkeys(("operation", "code", "message", "key_prefix"), "x")
FAILURE |= {"status": 404, "request_id": "x"}


def response(project: Project, name: str, created_ms: int) -> None:
    row = {"project": project, "path": "/", "fingerprint": b""}
    StoredResponse.create(**row, key=name, created_ms=created_ms)


def counted(ends_ms: int, first: int, last: int) -> None:
    row = {"ends_ms": ends_ms, "used": 1, "most": 1}
    rows = [row | {"key": f"{number}"} for number in range(first, last)]
    with counters.atomic():
        Counter.insert_many(rows).execute()


@pytest.fixture
def kept(project: Project, key: str) -> dict[type[Model], int]:
    """A row of each table that is outdated, and one or more that is not."""
    used = Key.find_by_prefix(key[:16])
    for day, ms in ((TODAY - 29, 0), (TODAY - 30, 1)):
        old_ms = START_MS - ms
        KeyUsage.create(key=used, day=day, served=1, refused=1)
        response(project, f"{ms}", old_ms - MS_PER_DAY)
        Session.create(digest=f"{ms}", key=used, ends_ms=old_ms)
        Session.create(digest=f"file {ms}", key=used, ends_ms=START_MS)
        file = {"session": f"file {ms}", "name": "x", "content": b""}
        Upload.create(**file, at_ms=old_ms - FILE_KEPT_MS)
        FailedRequest.create(project=project, at_ms=old_ms - MS_PER_DAY, **FAILURE)
        facts = {"name": "x", "actor": "operator", "facts": "{}"}
        Event.create(project=project, at_ms=old_ms - 90 * MS_PER_DAY, **facts)
        counted(old_ms - MS_PER_DAY // 2, ms, ms + 1)
        minute = START_MS // MS_PER_MINUTE - 60 - ms
        Strike.create(key_id=ms, minute=minute, strikes=1, refused_ms=0, counts=True)
        ended = {"prefix": f"{ms}", "digest": b"", "created_ms": 0}
        Key.create(project=project, expires_ms=old_ms - KEEP_ENDED_MS, **ended)
    tables = KeyUsage, StoredResponse, Session, Upload, FailedRequest, Event
    tables += Counter, Strike, Key
    return {table: table.select().count() - 1 for table in tables}


def test_rows_are_kept_for_as_long_as_they_are_needed(kept: dict[type[Model], int]):
    housekeeping.delete_outdated()
    housekeeping.delete_outdated()
    assert {table: table.select().count() for table in kept} == kept


def test_outage_passes_and_what_it_has_kept_is_deleted_the_next_time(
    locked_data: Callable, project: Project, capfd: pytest.CaptureFixture
):
    response(project, "old", 1)
    with locked_data("reply"):
        housekeeping.delete_outdated()
    assert StoredResponse.select().exists()
    housekeeping.delete_outdated()
    assert not StoredResponse.select().exists()
    assert "Traceback" not in capfd.readouterr().out


def test_fault_is_logged_with_its_traceback_and_keeps_no_other_row(
    project: Project, capfd: pytest.CaptureFixture
):
    response(project, "old", 1)
    db.execute_sql("ALTER TABLE activity RENAME TO moved")
    try:
        housekeeping.delete_outdated()
    finally:
        db.execute_sql("ALTER TABLE moved RENAME TO activity")
    assert not StoredResponse.select().exists()
    [line] = [x for x in capfd.readouterr().out.splitlines() if "internal_error" in x]
    assert "Traceback" in line


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_requests_start_it(
    client: FlaskClient, set_limits: Callable, monkeypatch: pytest.MonkeyPatch
):
    deleted: list[None] = []
    monkeypatch.setattr(request_log, "_deleting", Delayed(lambda: deleted.append(None)))
    set_limits(outdated_seconds=0.1)
    for _ in range(3):
        client.get("/healthz")
    wait_until(lambda: deleted)
    assert len(deleted) == 1


def test_any_number_of_rows_is_deleted_by_any_number_of_processes(project: Project):
    counted(START_MS - MS_PER_DAY - 1, 0, MANY)
    counted(START_MS, MANY, MANY + 1)
    with ThreadPoolExecutor(THREADS) as pool:
        done = [pool.submit(housekeeping.delete_outdated) for _ in range(THREADS)]
    assert not [each.exception() for each in done if each.exception()]
    assert [row.key for row in Counter.select()] == [str(MANY)]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_clock_of_the_database_counts_and_locked_rows_are_left_for_later(
    project: Project, postgresql: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
):
    for name, at_ms in (("first", 1), ("second", 1), ("new", START_MS)):
        response(project, name, at_ms)
    monkeypatch.setattr("petstore.clock.now_ms", lambda: START_MS + 9 * MS_PER_DAY)
    with postgresql.transaction():
        postgresql.execute("SELECT 1 FROM reply WHERE key = 'second' FOR UPDATE")
        housekeeping.delete_outdated()
    assert {stored.key for stored in StoredResponse.select()} == {"second", "new"}
