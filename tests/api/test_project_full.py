"""409 project_full: a project that holds all the rows of its plan adds no more."""

from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.pets import PetTable
from petstore.models.projects import Plan, Project
from petstore.models.row_limits import row_limits
from tests.harness import databases
from tests.harness.clocks import Clock
from tests.harness.services import Service, issue_key, serving
from tests.harness.statements import recorded
from tests.harness.waiting import wait_until

REX = {"name": "Rex", "categoryId": 7}
FULL = {
    "code": "project_full",
    "message": "The project is full: it may hold 2 animals, orders and categories "
    "together. Ask whoever runs this service for a larger plan.",
    "status": 409,
}
TINY = Plan("enterprise", 10**6, 10**6, 2)


@pytest.fixture
def project(app: Flask) -> Project:
    """A project that may hold two rows."""
    return Project.add("Shelter", None, TINY)


@pytest.fixture
def full(client: FlaskClient, project: Project, clock: Clock) -> FlaskClient:
    """A client of the project, which has an animal and its category."""
    client.post("/v1/pets", json=REX, headers={"Idempotency-Key": "first"})
    clock.move(seconds=15)
    row_limits.count()
    return client


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/pets", REX),
        ("POST", "/v1/pets", REX | {"categoryId": 8}),
        ("POST", "/v1/store/orders", {"petId": 1}),
        ("PATCH", "/v1/pets/1", {"categoryId": 8}),
        ("PUT", "/v1/categories/8", {"name": "Cats"}),
    ],
)
def test_what_would_add_a_row_is_refused(
    full: FlaskClient, method: str, path: str, body: dict
):
    with recorded() as statements:
        answer = full.open(path, method=method, json=body)
    assert (answer.status_code, answer.json) == (409, FULL)
    # The key is looked up and the request counted; a category may be there already.
    assert len(statements) == 2 + (method in ("PUT", "PATCH"))
    assert [each["id"] for each in full.get("/v1/categories").json] == [7]
    assert answer.headers["X-RateLimit-Limit"] == "1000000"


def test_what_adds_no_row_is_served(full: FlaskClient):
    assert full.put("/v1/categories/7", json={"name": "Dogs"}).status_code == 200
    assert full.get("/v1/pets").json == [REX | {"id": 1, "status": "available"}]
    correction = {"name": "Max", "categoryId": 7}
    assert full.patch("/v1/pets/1", json=correction).status_code == 200


def test_refusal_is_not_stored_for_an_idempotency_key(
    full: FlaskClient, project: Project, clock: Clock
):
    again = {"json": REX, "headers": {"Idempotency-Key": "again"}}
    assert full.post("/v1/pets", **again).json == FULL
    project.change_limits(max_rows=3)
    clock.move(seconds=15)
    row_limits.count()
    answer = full.post("/v1/pets", **again)
    assert answer.status_code == 201
    assert "Idempotent-Replayed" not in answer.headers


def test_earlier_response_is_repeated_in_a_full_project(full: FlaskClient):
    answer = full.post("/v1/pets", json=REX, headers={"Idempotency-Key": "first"})
    assert (answer.status_code, answer.json["id"]) == (201, 1)
    assert PetTable.select().count() == 1


@pytest.fixture(params=["two workers", "gthread"])
def service(
    request: pytest.FixtureRequest,
    environ: dict[str, str],
    set_limits: Callable,
    tmp_path: Path,
) -> Service:
    set_limits(count_seconds=0.2, recount_seconds=0.1)
    options = ("--worker-class", "gthread", "--threads", "4")
    if request.param == "two workers":
        environ, options = environ | {"WEB_CONCURRENCY": "2"}, ()
    key = issue_key(environ, TINY)
    with serving(tmp_path, environ, *options, key=key) as service:
        yield service
        databases.close()  # which the test has used


def test_all_workers_refuse_within_a_while_and_serve_after_a_change(service: Service):
    def statuses() -> set[int | None]:
        return {service.send(body=REX).status for _ in range(10)}

    assert 201 in statuses()
    wait_until(lambda: statuses() == {409}, "there is room")
    Project.by_slug("shelter").change_plan(Plan("business"))
    wait_until(lambda: statuses() == {201}, "it is full")
