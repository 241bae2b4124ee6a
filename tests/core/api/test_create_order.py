"""createOrder: POST /v1/store/orders (decisions on orders)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.core.api.conftest import REX
from tests.harness.answers import INVALID, error_of
from tests.harness.clients import ORDERS


def place(client: FlaskClient, pet_id: int) -> TestResponse:
    return client.post(ORDERS, json={"petId": pet_id})


def test_created_order_is_returned_with_all_its_members(client: FlaskClient, rex: dict):
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


@pytest.mark.parametrize("reference", ["=1+1", " x" * 100, "Łódź 🐕", None])
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


@pytest.mark.parametrize("status", ["pending", "sold"])
def test_unavailable_pet_cannot_be_ordered(client: FlaskClient, status: str):
    pet = client.post("/v1/pets", json=REX | {"status": status}).json
    assert error_of(place(client, pet["id"])) == (409, "pet_not_available")
    assert (client.get("/v1/pets").json, client.get(ORDERS).json) == ([pet], [])


@pytest.mark.parametrize("pet_id", [0, 2**63 - 1])
def test_unknown_pet_id_is_refused(client: FlaskClient, pet_id: int):
    answer = place(client, pet_id)
    assert error_of(answer) == INVALID
    assert answer.json["message"] == "petId: no animal with this id"
