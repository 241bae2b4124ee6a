"""Failed requests of a project are noted, and written a moment later."""

from collections.abc import Callable
from functools import partial

import pytest
from flask.testing import FlaskClient

from petstore import clock
from petstore.models import failed_requests
from petstore.models.failed_requests import (
    DELETED_AT_ONCE,
    KEPT,
    KEPT_MS,
    FailedRequest,
    Failure,
    FailureQueue,
    failure_queue,
    listed,
)
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.storage.lists import Part
from tests.harness.clocks import START_MS, Clock
from tests.harness.statements import recorded

NEVER = 3600.0
EVERYTHING = Part(limit=KEPT + 1)


def found(project: Project, request_id: str | None = None) -> list[Failure]:
    """Write what is waiting, and return the failures that the project sees."""
    failure_queue.flush()
    return listed(project.id, EVERYTHING, request_id=request_id).rows


def failure(project: Project, number: int = 0, at_ms: int = START_MS) -> Failure:
    of_key = "pet_AAAAAAAAAAAA"
    return Failure(project.id, at_ms, "x", 404, "not_found", "x", of_key, f"{number}")


@pytest.fixture(autouse=True)
def by_hand(set_limits: Callable) -> None:
    """Write when the test says so, and count no failure of another test."""
    set_limits(failed_seconds=NEVER)
    failure_queue.has_room(0, START_MS - clock.MS_PER_SECOND)


@pytest.fixture
def dropped() -> list[int]:
    return []


@pytest.fixture
def queue(dropped: list[int]) -> FailureQueue:
    """A queue that counts what it drops."""
    queue = FailureQueue()
    queue.on_drop = dropped.append
    return queue


def test_failure_is_found_by_its_id_with_what_was_answered(
    client: FlaskClient, project: Project, key: str
):
    client.get("/v1/pets/8")
    answer = client.get("/v1/pets/9", headers={"X-Request-ID": "mine-1"})
    [row] = found(project, "mine-1")
    assert row[:-1] == (
        project.id,
        START_MS,
        "getPet",
        404,
        "not_found",
        answer.json["message"],
        key[:16],
        "mine-1",
    )
    assert len(found(project)) == 2
    assert found(project, "mine") == []


@pytest.mark.parametrize(
    ("method", "path", "sent", "operation", "code"),
    [
        ("GET", "/v1/nowhere", {}, "GET /v1/nowhere", "not_found"),
        ("DELETE", "/v1/pets", {}, "DELETE /v1/pets", "method_not_allowed"),
        ("HEAD", "/v1/pets/9", {}, "getPet", "not_found"),
        ("POST", "/v1/pets", {"json": {}}, "createPet", "invalid_request"),
        ("POST", "/v1/pets", {"json": "x" * 65537}, "createPet", "body_too_large"),
        ("POST", "/v1/pets", {"data": "x"}, "createPet", "unsupported_media_type"),
        ("GET", "/v1/\x00\u202e", {}, r"GET /v1/\u0000\u202e", "not_found"),
    ],
)
def test_each_kind_of_failure_is_kept(
    client: FlaskClient,
    project: Project,
    method: str,
    path: str,
    sent: dict,
    operation: str,
    code: str,
):
    client.open(path, method=method, **sent)
    [row] = found(project)
    assert (row.operation, row.code) == (operation, code)


def test_no_key_and_no_long_text_is_kept(
    client: FlaskClient, project: Project, key: str
):
    client.get(f"/v1/{key}")
    client.post("/v1/pets", json={f"{key}{number}" * 9: 1 for number in range(90)})
    text = str(found(project))
    assert key[:16] in text
    assert key[16:] not in text
    assert max(len(row.message) for row in found(project)) <= 1_000


def test_refusals_of_the_quota_are_kept(client_of: Callable):
    small = Project.add("Small", None, Plan("enterprise", 1, 9))
    client = client_of(Key.issue(small))
    for _ in range(2):
        client.get("/v1/pets")
    assert [row.code for row in found(small)] == ["rate_limit_exceeded"]


def test_what_succeeds_or_has_no_valid_key_is_not_kept(
    client: FlaskClient, stranger: FlaskClient, project: Project
):
    for path in ("/v1/pets", "/healthz", "/nowhere"):
        client.get(path)
    stranger.get("/v1/pets")
    assert found(project) == []


def test_nobody_else_sees_it(client: FlaskClient, rival: Project):
    client.get("/v1/pets/9", headers={"X-Request-ID": "mine-1"})
    assert found(rival) == []
    assert found(rival, "mine-1") == []


def test_the_newest_are_first_and_older_ones_than_a_day_are_not_seen(
    client: FlaskClient, project: Project, clock: Clock
):
    for number in range(3):
        client.get("/v1/pets/9", headers={"X-Request-ID": f"{number}"})
        assert found(project)[0].request_id == f"{number}"
        clock.move(seconds=60)
    assert [row.request_id for row in found(project)] == ["2", "1", "0"]
    clock.move(days=1, seconds=-150)
    assert [row.request_id for row in found(project)] == ["2", "1"]
    failure_queue.tidy()
    assert FailedRequest.select().count() == 2


def test_request_that_fails_writes_nothing_itself(client: FlaskClient):
    with recorded() as statements:
        client.get("/v1/pets/9")
    assert not [each for each in statements if "failed_request" in each.sql]


def test_twenty_in_a_second_are_kept_of_each_project(
    client: FlaskClient, rival_client: FlaskClient, project: Project, clock: Clock
):
    for _ in range(25):
        client.get("/v1/pets/9")
    rival_client.get("/v1/pets/9")
    assert len(found(project)) == 20
    clock.move(seconds=1)
    client.get("/v1/pets/9")
    assert len(found(project)) == 21
    assert FailedRequest.select().count() == 22


def test_two_hundred_rows_are_left_of_any_number(
    project: Project, rival: Project, queue: FailureQueue
):
    queue.add(partial(failure, rival))
    for number in range(KEPT + DELETED_AT_ONCE + 30):
        queue.add(partial(failure, project, number))
    queue.flush()
    assert len(found(project)) == KEPT
    queue.tidy()
    rows = FailedRequest.select().where(FailedRequest.project == project)
    assert rows.count() == KEPT
    assert found(project)[-1].request_id == str(DELETED_AT_ONCE + 30)
    assert len(found(rival)) == 1


def test_project_that_grows_while_it_is_tidied_is_tidied_again(
    project: Project, queue: FailureQueue, monkeypatch: pytest.MonkeyPatch
):
    def delete_and_grow(project_id: int) -> None:
        delete_surplus(project_id)
        queue.add(partial(failure, project))
        queue.flush()

    delete_surplus = failed_requests._delete_surplus
    monkeypatch.setattr(failed_requests, "_delete_surplus", delete_and_grow)
    for _ in range(KEPT):
        queue.add(partial(failure, project))
    queue.flush()
    queue.tidy()
    monkeypatch.undo()
    queue.tidy()
    assert FailedRequest.select().count() == KEPT


def test_all_that_is_older_than_a_day_is_deleted(project: Project, queue: FailureQueue):
    for number in range(DELETED_AT_ONCE + 1):
        queue.add(partial(failure, project, number, START_MS - KEPT_MS - 1))
    queue.add(partial(failure, project))
    queue.flush()
    queue.tidy()
    assert [row.at_ms for row in FailedRequest.select()] == [START_MS]


def test_what_cannot_be_tidied_is_tidied_later(
    locked_data: Callable, project: Project, queue: FailureQueue
):
    for number in range(KEPT + 1):
        queue.add(partial(failure, project, number))
    queue.flush()
    with locked_data("failed_request"):
        queue.tidy()
    queue.tidy()
    assert FailedRequest.select().count() == KEPT


def test_full_queue_drops_and_counts(
    project: Project,
    rival: Project,
    queue: FailureQueue,
    dropped: list[int],
    set_limits: Callable,
):
    set_limits(failed_requests=3)
    for number in range(5):
        if queue.has_room(project.id, START_MS):
            queue.add(partial(failure, project, number))
    queue.flush()
    assert [row.request_id for row in found(project)] == ["2", "1", "0"]
    assert dropped == [1, 1]


def test_nothing_waits_for_a_locked_database_and_nothing_is_lost(
    locked_data: Callable, client: FlaskClient, project: Project
):
    with locked_data("failed_request"):
        assert client.get("/v1/pets/9").status_code == 404
        failure_queue.flush()
        assert found(project) == []
    assert len(found(project)) == 1


def test_failure_of_a_deleted_project_is_no_obstacle(
    project: Project, rival: Project, queue: FailureQueue, dropped: list[int]
):
    rival.mark_deleted()
    for each in (rival, project):
        queue.add(partial(failure, each))
    queue.flush()
    assert FailedRequest.select().count() == 1
    assert not dropped


def test_what_the_database_refuses_for_good_is_dropped(
    project: Project, queue: FailureQueue, dropped: list[int]
):
    queue.add(lambda: failure(project)._replace(status=None))
    queue.flush()
    queue.add(partial(failure, project))
    queue.flush()
    assert FailedRequest.select().count() == 1
    assert dropped == [1]
