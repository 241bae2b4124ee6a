"""createPet: POST /v1/pets (specification section 4.2)."""

from flask.testing import FlaskClient

from petstore import clock as service_clock
from petstore.models.pets import PetTable
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

REMOVAL_MS = service_clock.instant_ms(2030, 12, 5)
REX = {"name": "Rex", "categoryId": 7}


def test_created_pet_is_returned_with_its_id(client: FlaskClient):
    answer = client.post("/v1/pets", json=REX | {"status": "pending"})
    assert answer.status_code == 201
    assert answer.content_type == "application/json"
    assert answer.json == {"id": 1, "status": "pending", **REX}


def test_status_defaults_to_available(client: FlaskClient):
    assert client.post("/v1/pets", json=REX).json["status"] == "available"


def test_location_header_points_to_the_pet(client: FlaskClient):
    answer = client.post("/v1/pets", json=REX)
    assert answer.headers["Location"] == f"/v1/pets/{answer.json['id']}"
    assert client.get(answer.headers["Location"]).json == answer.json


@of_one_engine
def test_location_is_a_list_query_once_get_pet_is_removed(
    client: FlaskClient, clock: Clock
):
    clock.set_ms(REMOVAL_MS - 1)
    assert client.post("/v1/pets", json=REX).headers["Location"] == "/v1/pets/1"
    clock.set_ms(REMOVAL_MS)
    answer = client.post("/v1/pets", json=REX)
    client.post("/v1/pets", json=REX)
    assert answer.headers["Location"] == "/v1/pets?after=1&limit=1"
    assert client.get(answer.headers["Location"]).json == [answer.json]


def test_an_id_is_never_used_twice(client: FlaskClient):
    first = client.post("/v1/pets", json=REX).json["id"]
    PetTable.delete().execute()
    assert client.post("/v1/pets", json=REX).json["id"] == first + 1
