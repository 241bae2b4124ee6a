"""putCategory: PUT /v1/categories/{categoryId} (decisions on categories)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.harness.databases import of_one_engine

CATEGORIES = "/v1/categories"
JSON = {"Content-Type": "application/json"}


def put(client: FlaskClient, category_id: object, name: object) -> TestResponse:
    return client.put(f"{CATEGORIES}/{category_id}", json={"name": name})


@pytest.mark.parametrize("category_id", [0, 2**63 - 1])
def test_put_creates_the_category(client: FlaskClient, category_id: int):
    answer = put(client, category_id, "Dogs")
    assert answer.status_code == 201
    assert answer.json == {"id": category_id, "name": "Dogs"}
    assert client.get(CATEGORIES).json == [answer.json]


def test_put_renames_the_category(client: FlaskClient):
    put(client, 7, "Dogs")
    put(client, 8, "Cats")
    answer = put(client, 7, "Hounds")
    assert (answer.status_code, answer.json) == (200, {"id": 7, "name": "Hounds"})
    assert client.get(CATEGORIES).json == [answer.json, {"id": 8, "name": "Cats"}]


@pytest.mark.parametrize("category_id", [0, 2**63 - 1])
def test_put_names_a_category_that_a_pet_created(client: FlaskClient, category_id: int):
    pet = {"name": "Rex", "categoryId": category_id}
    pet = client.post("/v1/pets", json=pet).json
    answer = put(client, category_id, "Dogs")
    assert answer.status_code == 200
    assert client.get(CATEGORIES).json == [{"id": category_id, "name": "Dogs"}]
    assert client.get(f"/v1/pets/{pet['id']}").json == pet


def test_null_removes_the_name(client: FlaskClient):
    put(client, 7, "Dogs")
    answer = put(client, 7, None)
    assert (answer.status_code, answer.json) == (200, {"id": 7, "name": None})
    assert client.get(CATEGORIES).json == [answer.json]


def test_null_creates_a_category_without_a_name(client: FlaskClient):
    answer = put(client, 7, None)
    assert (answer.status_code, answer.json) == (201, {"id": 7, "name": None})
    assert client.get(CATEGORIES).json == [answer.json]


def test_each_project_has_its_own_category_names(
    client: FlaskClient, rival_client: FlaskClient
):
    owners = [(client, "Dogs"), (rival_client, "Cats"), (client, "Hounds")]
    answers = [put(each, 7, name) for each, name in owners]
    assert [answer.status_code for answer in answers] == [201, 201, 200]
    assert client.get(CATEGORIES).json == [{"id": 7, "name": "Hounds"}]
    assert rival_client.get(CATEGORIES).json == [{"id": 7, "name": "Cats"}]


@of_one_engine
def test_invalid_body_changes_nothing(client: FlaskClient):
    put(client, 7, "Dogs")
    faults = {
        "{}": "name: is required",
        '{"name": ""}': "name: must have 1 to 200 characters",
        '{"name": "Dogs", "id": 7}': "id: is unknown",
        '{"name": "Dogs", "name": "Cats"}': "name: must not be repeated",
    }
    for body, fault in faults.items():
        answer = client.put(f"{CATEGORIES}/7", data=body, headers=JSON)
        assert (answer.status_code, answer.json["message"]) == (400, fault)
    assert client.get(CATEGORIES).json == [{"id": 7, "name": "Dogs"}]
