"""deletePet: DELETE /v1/pets/{petId} (decisions on animals)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.harness.answers import INVALID, NOT_FOUND, RATE_LIMIT_HEADERS, error_of
from tests.harness.clients import ORDERS
from tests.harness.databases import of_one_engine

MIA = {"name": "Mia", "categoryId": 7}


def withdraw(client: FlaskClient, pet: dict, **options: object) -> TestResponse:
    return client.delete(f"/v1/pets/{pet['id']}", **options)


def test_a_withdrawn_animal_is_gone_and_the_others_stay(client: FlaskClient, rex: dict):
    mia = client.post("/v1/pets", json=MIA).json
    answer = withdraw(client, rex)
    assert (answer.status_code, answer.data) == (204, b"")
    assert not {*answer.headers.keys()} & {"Content-Type", "Content-Length"}
    assert {*answer.headers.keys()} >= RATE_LIMIT_HEADERS
    for path in ("/v1/pets", f"/v1/pets?after={rex['id']}"):
        assert client.get(path).json == [mia]
    path = f"/v1/pets/{rex['id']}"
    answers = [client.get(path), client.patch(path, json=MIA), withdraw(client, rex)]
    assert {error_of(answer) for answer in answers} == {NOT_FOUND}
    assert error_of(client.post(ORDERS, json={"petId": rex["id"]})) == INVALID


@pytest.mark.parametrize("status", ["pending", "sold"])
def test_an_animal_of_any_status_without_an_open_order_is_withdrawn(
    client: FlaskClient, status: str
):
    pet = client.post("/v1/pets", json=MIA | {"status": status}).json
    assert withdraw(client, pet).status_code == 204
    assert client.get("/v1/pets").json == []


def test_orders_of_a_withdrawn_animal_stay_and_keep_its_id(
    client: FlaskClient, rex: dict, order: dict
):
    path = f"{ORDERS}/{order['id']}"
    refused = withdraw(client, rex)
    assert error_of(refused) == (409, "pet_not_available")
    assert f"has the open order {order['id']}: complete or" in refused.json["message"]
    closed = client.patch(path, json={"status": "cancelled"}).json
    assert withdraw(client, rex).status_code == 204
    assert client.get(ORDERS).json == [closed]
    closing = client.patch(path, json={"status": "completed"})
    assert error_of(closing) == (409, "order_closed")


@of_one_engine
def test_idempotency_key_and_body_are_ignored(client: FlaskClient, rex: dict):
    named = {"headers": {"Idempotency-Key": "not valid"}, "data": b"{"}
    assert withdraw(client, rex, **named).status_code == 204
    assert error_of(withdraw(client, rex, **named)) == NOT_FOUND
