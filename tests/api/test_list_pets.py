"""listPets: GET /v1/pets (specification section 4.1); see test_lists.py."""

from flask.testing import FlaskClient

from tests.harness.answers import INVALID, error_of
from tests.harness.databases import of_one_engine

REX = {"name": "Rex", "categoryId": 7}


def test_listed_pets_equal_the_created_ones(client: FlaskClient):
    rex = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    ada = {"name": "Ada", "categoryId": 0, "status": "sold"}
    ada = client.post("/v1/pets", json=ada).json
    assert client.get("/v1/pets").json == [rex, ada]
    assert set(rex) == {"id", "name", "categoryId", "status"}
    assert client.get("/v1/pets?status=sold").json == [ada]


def test_category_parameter_filters_alone_and_with_a_status(client: FlaskClient):
    kinds = [(0, "sold"), (7, "sold"), (7, "available"), (2**63 - 1, "sold")] * 3
    pets = [
        {"name": "Rex", "categoryId": category, "status": status}
        for category, status in kinds
    ]
    pets = [client.post("/v1/pets", json=pet).json for pet in pets]
    for category in (0, 7, 8, 2**63 - 1):
        alike = [pet for pet in pets if pet["categoryId"] == category]
        path = f"/v1/pets?categoryId={category}"
        assert client.get(path).json == alike
        for status in ("available", "sold", "pending"):
            both = [pet for pet in alike if pet["status"] == status]
            assert client.get(f"{path}&status={status}").json == both


def test_next_link_keeps_the_filters(client: FlaskClient):
    pets = [client.post("/v1/pets", json=REX).json for _ in range(3)]
    address, found = "/v1/pets?categoryId=7&limit=2&status=available", []
    while address:
        answer = client.get(address)
        found.append(answer.json)
        address = answer.headers.get("Link", "").partition(">")[0].removeprefix("<")
        if address:
            parameters = "categoryId=7&limit=2&status=available"
            assert address.endswith(f"?{parameters}&after={pets[1]['id']}")
    assert found == [pets[:2], pets[2:]]


@of_one_engine
def test_category_other_than_an_int64_is_refused(client: FlaskClient):
    for literal in ("", "x", "-1", "7.0", "07", str(2**63), "null"):
        answer = client.get(f"/v1/pets?categoryId={literal}")
        assert error_of(answer) == INVALID
        fault = f"categoryId: must be an integer from 0 to {2**63 - 1}"
        assert answer.json["message"] == fault
