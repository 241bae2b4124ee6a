"""What keys are used for is noted by requests, and written a moment later."""

from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from petstore.extensions.monitoring import models as requests
from petstore.extensions.monitoring.models import KeyUse, totals_of, uses
from petstore.models import WriteQueue
from petstore.models.keys import USE_STEP_MS, Key, last_uses
from petstore.models.projects import Plan, Project
from tests.harness.browser import Browser
from tests.harness.clocks import START_MS, Clock
from tests.harness.databases import each_engine, of_one_engine
from tests.harness.services import serving
from tests.harness.stage import opened

database_url = each_engine

NEVER = 3600.0


def last_used_ms(key: str) -> int | None:
    return Key.find_by_prefix(key[:16]).last_used_ms


def totals(key: str) -> tuple[int, ...]:
    """Return served and refused of today, then of 30 days."""
    found = Key.find_by_prefix(key[:16])
    return totals_of([found])[found.id]


def use(notes: WriteQueue, key: str, clock: Clock, *, is_served: bool = True) -> None:
    notes.add(KeyUse(Key.find_by_prefix(key[:16]).id, clock.now_ms, is_served))


@pytest.fixture
def notes() -> WriteQueue:
    """Uses that only the test writes."""
    return WriteQueue(requests._write_uses, lambda: NEVER)


def test_notes_of_a_moment_are_written_together_for_the_keys_that_there_are(
    key: str, project: Project, clock: Clock, notes: WriteQueue
):
    another, gone = Key.issue(project), Key.issue(project)
    for each in (gone, key):
        use(notes, each, clock)
    Key.delete().where(Key.prefix == gone[:16]).execute()
    clock.move(seconds=0.5)
    use(notes, key, clock, is_served=False)
    notes.flush()
    assert totals(key) == (1, 1, 1, 1)
    use(notes, key, clock)
    notes.flush()
    assert totals(key) == (2, 1, 2, 1)
    assert totals(another) == (0, 0, 0, 0)


@of_one_engine
def test_requests_are_counted_as_the_quota_counts_them(client_of: Callable):
    key = Key.issue(Project.add("Small", None, Plan("enterprise", 3, 9)))
    client = client_of(key)
    for path in ("/v1/pets", "/v1/pets/9", "/v1/nowhere", "/v1/pets", "/v1/pets"):
        client.get(path)
    uses.flush()
    assert totals(key) == (3, 2, 3, 2)


@of_one_engine
def test_pages_of_keys_show_what_programs_have_sent(
    browser: Browser, client: FlaskClient, key: str
):
    for _ in range(3):
        browser.get("/dashboard")  # which is no request
    client.get("/v1/pets")
    uses.flush()
    in_list, alone = (browser.read(f"/dashboard/keys{x}") for x in ("", f"/{key[:16]}"))
    assert "Requests today In 30 days" in in_list
    assert "Requests today 1 In 30 days 1" in alone


def test_days_are_counted_apart_and_thirty_are_shown(key: str, clock: Clock):
    for days in (0, 29, 1):
        clock.move(days=days)
        use(uses, key, clock)
        uses.flush()
    assert totals(key) == (1, 0, 2, 0)
    use(uses, key, clock)
    clock.move(days=1)
    use(uses, key, clock)
    uses.flush()  # of two days at once
    assert totals(key) == (1, 0, 4, 0)


def test_last_use_is_written_once_in_ten_minutes_for_the_keys_that_there_are(
    client: FlaskClient, client_of: Callable, key: str, project: Project, clock: Clock
):
    gone = Key.issue(project)
    client_of(gone).get("/v1/pets")
    Key.delete().where(Key.prefix == gone[:16]).execute()
    for seconds in (0, USE_STEP_MS / 1000 - 1, 1):
        clock.move(seconds=seconds)
        client.get("/v1/pets")
        assert last_used_ms(key) == (START_MS if clock.now_ms > START_MS else None)
        last_uses.flush()
    assert last_used_ms(key) == START_MS + USE_STEP_MS


def test_worker_that_ends_writes_its_notes(
    new_database: Callable[[str], str], tmp_path: Path
):
    environ = {"DATABASE_URL": new_database("sqlite"), "WEB_CONCURRENCY": "1"}
    with serving(tmp_path, environ) as service:
        assert service.send().is_served
        service.gunicorn.stop()
        with opened(environ):
            assert last_used_ms(service.key)
            assert totals(service.key) == (1, 0, 1, 0)
