"""listPets: GET /v1/pets (specification section 4.1)."""

import pytest
from flask.testing import FlaskClient

from petstore.models.pets import PetTable
from petstore.models.projects import Project


def add(client: FlaskClient, **members: object) -> dict:
    return client.post("/v1/pets", json={"name": "Rex", "categoryId": 7} | members).json


def test_a_project_without_pets_has_an_empty_list(client: FlaskClient):
    answer = client.get("/v1/pets")
    assert answer.status_code == 200
    assert answer.content_type == "application/json"
    assert answer.json == []


def test_pets_are_listed_with_all_members_by_ascending_id(client: FlaskClient):
    rex, ada = add(client), add(client, name="Ada", categoryId=0, status="sold")
    assert client.get("/v1/pets").json == [rex, ada]
    assert rex["id"] < ada["id"]
    assert set(rex) == {"id", "name", "categoryId", "status"}


@pytest.mark.parametrize("status", ["available", "pending", "sold"])
def test_status_parameter_filters_the_pets(client: FlaskClient, status: str):
    for each in ("sold", "available", "pending", "sold", "available", "pending"):
        add(client, status=each)
    listed = client.get(f"/v1/pets?status={status}").json
    assert [pet["status"] for pet in listed] == [status, status]


@pytest.mark.parametrize(
    ("query", "length"), [("", 20), ("?limit=1", 1), ("?limit=100", 100)]
)
def test_limit_defaults_to_20(
    client: FlaskClient, project: Project, query: str, length: int
):
    row = {"project": project, "name": "Rex", "category_id": 7, "status": "sold"}
    PetTable.insert_many([row] * 101).execute()
    assert len(client.get(f"/v1/pets{query}").json) == length


def test_pets_of_another_project_are_not_listed(
    client: FlaskClient, rival_client: FlaskClient
):
    rex = add(client)
    add(rival_client)
    assert client.get("/v1/pets").json == [rex]
    assert client.get("/v1/pets?status=available").json == [rex]


def test_head_answers_like_get_without_the_body(client: FlaskClient):
    add(client)
    got, asked = client.get("/v1/pets"), client.head("/v1/pets")
    assert asked.status_code == 200
    assert asked.data == b""
    assert asked.headers["Content-Length"] == got.headers["Content-Length"]
    assert asked.headers["X-RateLimit-Remaining"] == "997"


def test_each_list_request_counts_once_against_the_quota(client: FlaskClient):
    remaining = [
        client.get("/v1/pets").headers["X-RateLimit-Remaining"] for _ in range(3)
    ]
    assert remaining == ["999", "998", "997"]
