"""409 project_full: a project that holds all the rows of its plan adds no more."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.projects import Plan, Project
from tests.core.api.conftest import REX
from tests.harness.clients import ORDERS, PETS

FULL = {
    "code": "project_full",
    "message": "The project is full: it may hold 2 animals, orders and categories "
    "together. Ask whoever runs this service for a larger plan.",
    "status": 409,
}
FIRST, AGAIN = {"Idempotency-Key": "first"}, {"Idempotency-Key": "again"}


@pytest.fixture
def project(app: Flask) -> Project:
    """A project that may hold two rows."""
    return Project.add("Shelter", None, Plan("enterprise", 10**6, 10**6, 2))


@pytest.fixture
def full(client: FlaskClient) -> FlaskClient:
    """A client of the project, which has an animal and its category."""
    client.post(PETS, json=REX, headers=FIRST)
    return client


def test_what_would_add_a_row_is_refused_and_what_adds_none_is_served(
    full: FlaskClient, project: Project, rival_client: FlaskClient
):
    for method, path, body in (
        ("POST", PETS, REX),
        ("POST", PETS, REX | {"categoryId": 8}),
        ("POST", ORDERS, {"petId": 1}),
        ("PATCH", f"{PETS}/1", {"categoryId": 8}),
        ("PUT", "/v1/categories/8", {"name": "Cats"}),
    ):
        answer = full.open(path, method=method, json=body)
        assert (answer.status_code, answer.json) == (409, FULL)
        assert answer.headers["X-RateLimit-Limit"] == "1000000"
    assert full.put("/v1/categories/7", json={"name": "Dogs"}).status_code == 200
    assert full.patch(f"{PETS}/1", json=REX).status_code == 200
    assert [pet["id"] for pet in full.get(PETS).json] == [1]
    assert full.get("/v1/categories").json == [{"id": 7, "name": "Dogs"}]
    assert rival_client.post(PETS, json=REX).status_code == 201
    assert Project.get_by_id(project.id).rows_held == 2


def test_refusal_is_not_stored_for_an_idempotency_key_but_earlier_answers_are_repeated(
    full: FlaskClient, project: Project
):
    assert full.post(PETS, json=REX, headers=FIRST).json["id"] == 1
    assert full.post(PETS, json=REX, headers=AGAIN).json == FULL
    project.change_terms(max_rows=3)
    answer = full.post(PETS, json=REX, headers=AGAIN)
    assert (answer.status_code, answer.json["id"]) == (201, 2)
    assert "Idempotent-Replayed" not in answer.headers


def test_rows_are_counted_as_they_come_and_go_and_plans_hold_at_once(
    full: FlaskClient, project: Project
):
    def held() -> int | None:
        return Project.get_by_id(project.id).rows_held

    for path, count in ((f"{PETS}/1", 1), ("/v1/categories/7", 0)):
        assert full.delete(path).status_code == 204
        assert held() == count
    pet = full.post(PETS, json=REX).json
    assert full.post(ORDERS, json={"petId": pet["id"]}).json == FULL
    project.change_plan(Plan("free"))
    order = full.post(ORDERS, json={"petId": pet["id"]}).json
    for refused in (
        full.post(ORDERS, json={"petId": pet["id"]}),
        full.delete(f"{PETS}/{pet['id']}"),
    ):
        assert (refused.status_code, held()) == (409, 3)
    full.patch(f"{ORDERS}/{order['id']}", json={"status": "cancelled"})
    assert full.delete(f"{ORDERS}/{order['id']}").status_code == 204
    project.change_plan(Plan("enterprise", 99, 99, 1))  # which takes nothing away
    assert full.post(PETS, json=REX).json["code"] == "project_full"
    assert (len(full.get(PETS).json), held()) == (1, 2)
