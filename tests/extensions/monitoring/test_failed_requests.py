"""Failed requests of a project are noted, and written a moment later."""

from collections.abc import Callable
from typing import Any

import peewee
import pytest
from flask.testing import FlaskClient

from petstore import clock
from petstore.extensions.dashboard import Cursor
from petstore.extensions.monitoring import models as requests
from petstore.extensions.monitoring import pages
from petstore.extensions.monitoring.models import (
    FAILURES_KEPT,
    FailedRequest,
    WriteQueue,
    failures,
)
from petstore.models.grants import Grant
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.storage import Row
from petstore.upkeep import housekeeping
from petstore.upkeep.projects import set_suspended
from tests.harness.clocks import START_MS, Clock
from tests.harness.databases import each_engine, of_one_engine

database_url = each_engine

NEVER = 3600.0
EVERYTHING = Cursor(limit=FAILURES_KEPT + 1)


def found(project: Project, request_id: str | None = None) -> list[Row]:
    """Write what is waiting, and return the failures that the project sees."""
    failures.flush()
    return pages.failures_page(project.id, EVERYTHING, id=request_id).rows


def failure(project: Project, number: int = 0, second: int = 0) -> dict[str, Any]:
    at_ms = START_MS + second * clock.MS_PER_SECOND
    facts = ("x", 404, "not_found", "x", "pet_AAAAAAAAAAAA", f"{number}")
    names = [field.name for field in FailedRequest._meta.sorted_fields[1:]]
    return dict(zip(names, (project.id, at_ms, *facts), strict=True))


@pytest.fixture
def notes() -> WriteQueue:
    """Failures that only the test writes."""
    return WriteQueue(requests._write_failures, lambda: NEVER)


def test_failure_is_found_by_its_id_with_what_was_answered_by_its_project_alone(
    client: FlaskClient, project: Project, rival: Project, key: str
):
    client.get("/v1/pets/8")
    answer = client.get("/v1/pets/9", headers={"X-Request-ID": "mine-1"})
    [row] = found(project, "mine-1")
    said = ("getPet", 404, "not_found", answer.json["message"])
    assert row[2:] == (START_MS, *said, key[:16], "mine-1")
    assert len(found(project)) == 2
    assert found(project, "mine") == found(rival) == found(rival, "mine-1") == []


@of_one_engine
def test_each_kind_of_failure_is_kept_and_no_success(
    client: FlaskClient, stranger: FlaskClient, project: Project
):
    for method, path, sent, operation, code in (
        ("GET", "/v1/nowhere", {}, "GET /v1/nowhere", "not_found"),
        ("DELETE", "/v1/pets", {}, "DELETE /v1/pets", "method_not_allowed"),
        ("HEAD", "/v1/pets/9", {}, "getPet", "not_found"),
        ("POST", "/v1/pets", {"json": {}}, "createPet", "invalid_request"),
        ("POST", "/v1/pets", {"json": "x" * 65537}, "createPet", "body_too_large"),
        ("POST", "/v1/pets", {"data": "x"}, "createPet", "unsupported_media_type"),
        ("GET", "/v1/\x00\u202e", {}, r"GET /v1/\u0000\u202e", "not_found"),
    ):
        client.open(path, method=method, **sent)
        row = found(project)[0]
        assert (row.operation, row.code) == (operation, code)
    before = found(project)
    for path in ("/v1/pets", "/healthz", "/nowhere"):
        client.get(path)
    stranger.get("/v1/pets")
    assert found(project) == before


@of_one_engine
def test_no_key_and_no_long_text_is_kept(
    client: FlaskClient, project: Project, key: str
):
    client.get(f"/v1/{key}")
    client.post("/v1/pets", json={f"{key}{number}" * 9: 1 for number in range(90)})
    text = str(found(project))
    assert key[:16] in text
    assert key[16:] not in text
    assert max(len(row.message) for row in found(project)) <= 1_000


@of_one_engine
def test_refusals_are_kept_but_of_a_public_key(client_of: Callable):
    small = Project.add("Small", None, Plan("enterprise", 1, 9))
    for role, codes in (
        ("public", []),
        ("read", ["rate_limit_exceeded", "rate_limit_exceeded"]),
    ):
        reader = client_of(Key.issue(small, Grant(role, 1, 9)))
        for _ in range(2):
            reader.post("/v1/pets")
        assert [row.code for row in found(small)] == codes


def test_the_newest_are_first_and_older_ones_than_a_day_are_not_seen(
    client: FlaskClient, project: Project, clock: Clock
):
    for number in range(3):
        client.get("/v1/pets/9", headers={"X-Request-ID": f"{number}"})
        assert found(project)[0].request_id == f"{number}"
        clock.move(seconds=60)
    clock.move(days=1, seconds=-150)
    assert [row.request_id for row in found(project)] == ["2", "1"]
    housekeeping.delete_outdated()
    assert FailedRequest.select().count() == 2


def test_twenty_in_a_second_are_kept_of_each_project(
    project: Project, rival: Project, notes: WriteQueue
):
    for number in range(25):
        notes.add(failure(project, number))
    notes.add(failure(rival))
    notes.add(failure(project, second=1))
    notes.flush()
    assert (len(found(project)), len(found(rival))) == (21, 1)


def test_two_hundred_rows_are_left_of_any_number(
    project: Project, rival: Project, notes: WriteQueue
):
    notes.add(failure(rival))
    for second in range(12):
        for number in range(20):
            notes.add(failure(project, second * 20 + number, second))
        if second % 4 == 3:
            notes.flush()
    assert len(found(project)) == FAILURES_KEPT == 200
    assert FailedRequest.select().count() == FAILURES_KEPT + 1
    assert found(project)[-1].request_id == str(12 * 20 - FAILURES_KEPT)


def test_nothing_waits_for_a_locked_database_and_nothing_is_lost(
    locked_data: Callable, client: FlaskClient, project: Project
):
    with locked_data("failed_request"):
        assert client.get("/v1/pets/9").status_code == 404
        failures.flush()
        assert found(project) == []
    assert len(found(project)) == 1


def test_what_the_database_refuses_for_good_and_deleted_projects_stop_nothing(
    project: Project, rival: Project, notes: WriteQueue
):
    notes.add(failure(project) | {"status": None})
    with pytest.raises(peewee.IntegrityError):
        notes.flush()
    rival.mark_deleted()
    for each in (rival, project):
        notes.add(failure(each))
    notes.flush()
    assert FailedRequest.select().count() == 1


def test_a_refusal_of_a_suspended_project_is_listed(
    client: FlaskClient, project: Project
):
    set_suspended(project, True)
    client.get("/v1/pets")
    failures.flush()
    [failed] = FailedRequest.select()
    assert (failed.status, failed.code) == (403, "project_suspended")
