"""createOrder: POST /v1/store/orders (decisions on orders)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.harness.answers import INVALID, error_of, seen
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

ORDERS = "/v1/store/orders"
JSON = {"Content-Type": "application/json"}
REX = {"name": "Rex", "categoryId": 7}


def place(client: FlaskClient, pet_id: int) -> TestResponse:
    return client.post(ORDERS, json={"petId": pet_id})


def status_of(client: FlaskClient, pet: dict) -> str:
    return client.get(f"/v1/pets/{pet['id']}").json["status"]


def test_created_order_is_returned_with_all_its_members(
    client: FlaskClient, rex: dict, clock: Clock
):
    answer = place(client, rex["id"])
    assert answer.status_code == 201
    assert answer.json == {
        "id": answer.json["id"],
        "petId": rex["id"],
        "status": "placed",
        "reference": None,
        "createdAt": "2027-03-17T12:00:10.000Z",
        "updatedAt": "2027-03-17T12:00:10.000Z",
    }
    assert answer.headers["Location"] == f"{ORDERS}/{answer.json['id']}"
    assert client.get(answer.headers["Location"]).json == answer.json


@pytest.mark.parametrize("reference", ["Ada L.", "=1+1", " x" * 100, "Łódź 🐕", None])
def test_reference_is_kept_as_sent_and_in_every_answer(
    client: FlaskClient, rex: dict, reference: str | None
):
    body = {"petId": rex["id"], "reference": reference}
    placed = client.post(ORDERS, json=body, headers={"Idempotency-Key": "1"})
    assert (placed.status_code, placed.json["reference"]) == (201, reference)
    path = placed.headers["Location"]
    again = client.post(ORDERS, json=body, headers={"Idempotency-Key": "1"})
    assert again.json == client.get(path).json == placed.json
    assert client.get(ORDERS).json == [placed.json]
    closed = client.patch(path, json={"status": "cancelled"})
    assert closed.json["reference"] == reference


def test_only_the_ordered_pet_becomes_pending(
    client: FlaskClient, rival_client: FlaskClient, rex: dict
):
    mia, tom = (each.post("/v1/pets", json=REX).json for each in (client, rival_client))
    place(client, rex["id"])
    assert status_of(client, rex) == "pending"
    assert status_of(client, mia) == "available"
    assert status_of(rival_client, tom) == "available"


@pytest.mark.parametrize("status", ["pending", "sold"])
def test_unavailable_pet_cannot_be_ordered(client: FlaskClient, status: str):
    pet = client.post("/v1/pets", json=REX | {"status": status}).json
    assert error_of(place(client, pet["id"])) == (409, "pet_not_available")
    assert status_of(client, pet) == status
    assert client.get(ORDERS).json == []


def test_pet_of_a_cancelled_order_can_be_ordered_again(
    client: FlaskClient, rex: dict, order: dict
):
    path = f"{ORDERS}/{order['id']}"
    cancelled = client.patch(path, json={"status": "cancelled"}).json
    second = place(client, rex["id"])
    assert second.status_code == 201
    assert status_of(client, rex) == "pending"
    assert client.get(ORDERS).json == [cancelled, second.json]


def test_pet_of_another_project_looks_like_a_missing_one(
    client: FlaskClient, rival_client: FlaskClient, rex: dict
):
    foreign, missing = (place(rival_client, rex["id"] + n) for n in (0, 1))
    assert seen(foreign) == seen(missing)
    assert status_of(client, rex) == "available"
    assert rival_client.get(ORDERS).json == client.get(ORDERS).json == []


@pytest.mark.parametrize("pet_id", [0, 2**63 - 1])
def test_unknown_pet_id_is_refused(client: FlaskClient, pet_id: int):
    answer = place(client, pet_id)
    assert error_of(answer) == INVALID
    assert answer.json["message"] == "petId: no animal with this id"


@of_one_engine
def test_invalid_body_is_refused_with_a_reason(client: FlaskClient, rex: dict):
    no_id = f"petId: must be an integer from 0 to {2**63 - 1}"
    faults = {
        "{}": "petId: is required",
        **{f'{{"petId": {value}}}': no_id for value in ("null", '"1"', "true", "1.5")},
        '{"petId": 1, "status": "placed"}': "status: is unknown",
        '{"petId": 1, "petId": 1}': "petId: must not be repeated",
        '{"petId": 1, "reference": ""}': ("reference: must have 1 to 200 characters"),
        f'{{"petId": 1, "reference": "{"x" * 201}"}}': (
            "reference: must have 1 to 200 characters"
        ),
        '{"petId": 1, "reference": " "}': (
            "reference: must not be blank and must not contain control characters"
        ),
        '{"petId": 1, "reference": 7}': "reference: must be a string",
    }
    for body, fault in faults.items():
        answer = client.post(ORDERS, data=body, headers=JSON)
        assert (answer.status_code, answer.json["message"]) == (400, fault)
    assert status_of(client, rex) == "available"
