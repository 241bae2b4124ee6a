"""createOrder: POST /v1/store/orders (decisions on orders)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

ORDERS = "/v1/store/orders"
JSON = {"Content-Type": "application/json"}
NOWHERE = (400, "petId: no animal with this id")


@pytest.fixture
def rex(client: FlaskClient) -> int:
    return add_pet(client)


def add_pet(client: FlaskClient, status: str = "available") -> int:
    pet = {"name": "Rex", "categoryId": 7, "status": status}
    return client.post("/v1/pets", json=pet).json["id"]


def order(client: FlaskClient, pet_id: object, key: str | None = None) -> TestResponse:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(ORDERS, json={"petId": pet_id}, headers=headers)


def close(client: FlaskClient, placed: TestResponse, status: str) -> TestResponse:
    return client.patch(placed.headers["Location"], json={"status": status})


def status_of(client: FlaskClient, pet_id: int) -> str:
    return client.get(f"/v1/pets/{pet_id}").json["status"]


def refusal_of(answer: TestResponse) -> tuple[int, str]:
    assert set(answer.json) == {"code", "message", "status"}
    assert answer.json["status"] == answer.status_code
    is_invalid = answer.json["code"] == "invalid_request"
    return answer.status_code, answer.json["message" if is_invalid else "code"]


def test_created_order_is_returned_with_all_its_members(
    client: FlaskClient, rex: int, clock: Clock
):
    answer = order(client, rex)
    assert answer.status_code == 201
    assert answer.json == {
        "id": answer.json["id"],
        "petId": rex,
        "status": "placed",
        "createdAt": "2027-03-17T12:00:10.000Z",
        "updatedAt": "2027-03-17T12:00:10.000Z",
    }
    assert answer.headers["Location"] == f"{ORDERS}/{answer.json['id']}"
    assert client.get(answer.headers["Location"]).json == answer.json


def test_only_the_ordered_pet_becomes_pending(
    client: FlaskClient, rival_client: FlaskClient, rex: int
):
    mia, tom = add_pet(client), add_pet(rival_client)
    order(client, rex)
    assert status_of(client, rex) == "pending"
    assert status_of(client, mia) == "available"
    assert status_of(rival_client, tom) == "available"


@pytest.mark.parametrize("status", ["pending", "sold"])
def test_unavailable_pet_cannot_be_ordered(client: FlaskClient, status: str):
    rex = add_pet(client, status)
    assert refusal_of(order(client, rex)) == (409, "pet_not_available")
    assert status_of(client, rex) == status
    assert client.get(ORDERS).json == []


def test_pet_with_an_open_order_cannot_be_ordered(client: FlaskClient, rex: int):
    placed = order(client, rex)
    assert refusal_of(order(client, rex)) == (409, "pet_not_available")
    assert client.get(ORDERS).json == [placed.json]


def test_pet_of_a_cancelled_order_can_be_ordered_again(client: FlaskClient, rex: int):
    first = order(client, rex)
    cancelled = close(client, first, "cancelled").json
    second = order(client, rex)
    assert second.status_code == 201
    assert second.json["id"] > first.json["id"]
    assert status_of(client, rex) == "pending"
    assert client.get(ORDERS).json == [cancelled, second.json]


def test_pet_of_another_project_looks_like_a_missing_one(
    client: FlaskClient, rival_client: FlaskClient, rex: int
):
    foreign, missing = order(rival_client, rex), order(rival_client, rex + 1)
    assert refusal_of(foreign) == refusal_of(missing) == NOWHERE
    assert set(foreign.headers.keys()) == set(missing.headers.keys())
    assert status_of(client, rex) == "available"
    assert rival_client.get(ORDERS).json == client.get(ORDERS).json == []


@pytest.mark.parametrize("pet_id", [0, 2**63 - 1])
def test_unknown_pet_id_is_refused(client: FlaskClient, pet_id: int):
    assert refusal_of(order(client, pet_id)) == NOWHERE


@of_one_engine
def test_invalid_body_is_refused_with_a_reason(client: FlaskClient, rex: int):
    no_id = f"petId: must be an integer from 0 to {2**63 - 1}"
    faults = {
        "{}": "petId: is required",
        **{f'{{"petId": {value}}}': no_id for value in ("null", '"1"', "true", "1.5")},
        '{"petId": 1, "status": "placed"}': "status: is unknown",
        '{"petId": 1, "petId": 1}': "petId: must not be repeated",
    }
    found = {
        body: refusal_of(client.post(ORDERS, data=body, headers=JSON))
        for body in faults
    }
    assert found == {body: (400, fault) for body, fault in faults.items()}
    assert status_of(client, rex) == "available"


@of_one_engine
def test_pet_id_is_accepted_in_any_integer_notation(client: FlaskClient, rex: int):
    answer = client.post(ORDERS, data=f'{{"petId": {rex}00e-2}}', headers=JSON)
    assert (answer.status_code, answer.json["petId"]) == (201, rex)


def test_retry_returns_the_same_order(client: FlaskClient, rex: int):
    first = order(client, rex, key="once")
    close(client, first, "cancelled")
    retry = order(client, rex, key="once")
    assert (retry.json, retry.status_code) == (first.json, 201)
    assert retry.headers["Location"] == first.headers["Location"]
    assert status_of(client, rex) == "available"


def test_retry_of_a_refused_order_is_refused_again(client: FlaskClient, rex: int):
    placed = order(client, rex)
    order(client, rex, key="late")
    close(client, placed, "cancelled")
    retry = order(client, rex, key="late")
    assert refusal_of(retry) == (409, "pet_not_available")
    assert status_of(client, rex) == "available"
