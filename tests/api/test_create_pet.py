"""createPet: POST /v1/pets (specification section 4.2)."""

import pytest
from flask.testing import FlaskClient

from petstore import clock as service_clock
from petstore.models.categories import CategoryTable
from petstore.models.pets import PetTable
from tests.clocks import Clock

REMOVAL_MS = service_clock.instant_ms(2030, 12, 5)
REX = {"name": "Rex", "categoryId": 7}


def test_an_animal_is_answered_with_its_id(client: FlaskClient):
    answer = client.post("/v1/pets", json=REX | {"status": "pending"})
    assert answer.status_code == 201
    assert answer.content_type == "application/json"
    assert answer.json == {"id": 1, "status": "pending", **REX}


def test_an_animal_is_available_unless_said_otherwise(client: FlaskClient):
    assert client.post("/v1/pets", json=REX).json["status"] == "available"


@pytest.mark.parametrize("status", ["available", "pending", "sold"])
def test_every_status_is_kept(client: FlaskClient, status: str):
    client.post("/v1/pets", json=REX | {"status": status})
    assert client.get("/v1/pets").json[0]["status"] == status


def test_the_location_leads_to_the_animal(client: FlaskClient):
    answer = client.post("/v1/pets", json=REX)
    assert answer.headers["Location"] == f"/v1/pets/{answer.json['id']}"
    assert client.get(answer.headers["Location"]).json == answer.json


def test_the_location_is_that_until_the_last_moment(client: FlaskClient, clock: Clock):
    clock.set_ms(REMOVAL_MS - 1)
    answer = client.post("/v1/pets", json=REX)
    assert answer.headers["Location"] == "/v1/pets/1"


def test_the_location_is_a_list_of_one_when_get_pet_is_gone(
    client: FlaskClient, clock: Clock
):
    client.post("/v1/pets", json=REX)
    clock.set_ms(REMOVAL_MS)
    answer = client.post("/v1/pets", json=REX)
    client.post("/v1/pets", json=REX)
    assert answer.headers["Location"] == "/v1/pets?after=1&limit=1"
    assert client.get(answer.headers["Location"]).json == [answer.json]


def test_an_id_is_never_used_twice(client: FlaskClient):
    first = client.post("/v1/pets", json=REX).json["id"]
    PetTable.delete().execute()
    assert client.post("/v1/pets", json=REX).json["id"] == first + 1


def test_a_category_comes_into_being_with_its_first_animal(client: FlaskClient):
    for _ in range(2):
        client.post("/v1/pets", json=REX)
    [category] = CategoryTable.select()
    assert (category.id, category.name) == (7, None)


def test_two_projects_have_each_a_category_of_the_same_number(
    client: FlaskClient, rival_client: FlaskClient
):
    assert client.post("/v1/pets", json=REX).status_code == 201
    assert rival_client.post("/v1/pets", json=REX).status_code == 201
    assert CategoryTable.select().count() == 2


@pytest.mark.parametrize("category_id", [0, 2**63 - 1])
def test_a_category_may_have_any_int64(client: FlaskClient, category_id: int):
    answer = client.post("/v1/pets", json=REX | {"categoryId": category_id})
    assert answer.json["categoryId"] == category_id


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        'application/json;charset="UTF-8"',
    ],
)
def test_json_is_taken_however_its_type_is_spelled(
    client: FlaskClient, content_type: str
):
    body = '{"name": "Mäx", "categoryId": 7}'.encode()
    answer = client.post("/v1/pets", data=body, content_type=content_type)
    assert answer.json["name"] == "Mäx"


@pytest.mark.parametrize("query", ["?limit=1", "?status=sold", "?x"])
def test_it_takes_no_parameters(client: FlaskClient, query: str):
    answer = client.post(f"/v1/pets{query}", json=REX)
    assert answer.status_code == 400
    assert not PetTable.select().exists()
