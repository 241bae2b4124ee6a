"""409 project_full: a project that holds all the rows of its plan adds no more."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.pets import PetTable
from petstore.models.projects import Plan, Project

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
def full(client: FlaskClient, project: Project) -> FlaskClient:
    """A client of the project, which has an animal and its category."""
    client.post("/v1/pets", json=REX, headers={"Idempotency-Key": "first"})
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
    answer = full.open(path, method=method, json=body)
    assert (answer.status_code, answer.json) == (409, FULL)
    assert [each["id"] for each in full.get("/v1/categories").json] == [7]
    assert answer.headers["X-RateLimit-Limit"] == "1000000"


def test_what_adds_no_row_is_served(full: FlaskClient):
    assert full.put("/v1/categories/7", json={"name": "Dogs"}).status_code == 200
    assert full.get("/v1/pets").json == [REX | {"id": 1, "status": "available"}]
    correction = {"name": "Max", "categoryId": 7}
    assert full.patch("/v1/pets/1", json=correction).status_code == 200


def test_refusal_is_not_stored_for_an_idempotency_key(
    full: FlaskClient, project: Project
):
    again = {"json": REX, "headers": {"Idempotency-Key": "again"}}
    assert full.post("/v1/pets", **again).json == FULL
    project.change_limits(max_rows=3)
    answer = full.post("/v1/pets", **again)
    assert answer.status_code == 201
    assert "Idempotent-Replayed" not in answer.headers


def test_earlier_response_is_repeated_in_a_full_project(full: FlaskClient):
    answer = full.post("/v1/pets", json=REX, headers={"Idempotency-Key": "first"})
    assert (answer.status_code, answer.json["id"]) == (201, 1)
    assert PetTable.select().count() == 1
