"""updateOrder: PATCH /v1/store/orders/{orderId} (decisions on orders)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

ORDERS = "/v1/store/orders"
JSON = {"Content-Type": "application/json"}
ENDS = [("completed", "sold"), ("cancelled", "available")]
PER_REQUEST = {"X-Request-ID", "X-RateLimit-Remaining", "RateLimit"}


def place(client: FlaskClient) -> dict:
    pet = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    return client.post(ORDERS, json={"petId": pet["id"]}).json


def close(client: FlaskClient, order: dict, status: str) -> TestResponse:
    return client.patch(f"{ORDERS}/{order['id']}", json={"status": status})


def pet_of(client: FlaskClient, order: dict) -> dict:
    return client.get(f"/v1/pets/{order['petId']}").json


@pytest.mark.parametrize(("status", "pet_status"), ENDS)
def test_closing_an_order_changes_the_status_of_its_pet(
    client: FlaskClient, status: str, pet_status: str
):
    order = place(client)
    before = pet_of(client, order)
    answer = close(client, order, status)
    assert answer.status_code == 200
    assert answer.json == order | {"status": status}
    assert pet_of(client, order) == before | {"status": pet_status}


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_closing_an_order_changes_no_other_order_or_pet(
    client: FlaskClient, rival_client: FlaskClient, status: str
):
    other, foreign = place(client), place(rival_client)
    close(client, place(client), status)
    for owner, order in [(client, other), (rival_client, foreign)]:
        assert owner.get(f"{ORDERS}/{order['id']}").json == order
        assert pet_of(owner, order)["status"] == "pending"


def test_closing_sets_updated_at_and_keeps_created_at(
    client: FlaskClient, clock: Clock
):
    order = place(client)
    clock.move(seconds=90.5)
    closed = close(client, order, "completed").json
    assert closed["createdAt"] == order["createdAt"] == "2027-03-17T12:00:10.000Z"
    assert closed["updatedAt"] == "2027-03-17T12:01:40.500Z"


def test_updated_at_is_never_before_created_at(client: FlaskClient, clock: Clock):
    order = place(client)
    clock.move(seconds=-5)
    assert close(client, order, "completed").json["updatedAt"] == order["createdAt"]


@pytest.mark.parametrize(("status", "pet_status"), ENDS)
def test_closed_order_cannot_be_changed(
    client: FlaskClient, clock: Clock, status: str, pet_status: str
):
    order = place(client)
    closed = close(client, order, status).json
    clock.move(seconds=1)
    for again in ("completed", "cancelled"):
        answer = close(client, order, again)
        assert (answer.status_code, answer.json["code"]) == (409, "order_closed")
    assert client.get(f"{ORDERS}/{order['id']}").json == closed
    assert pet_of(client, order)["status"] == pet_status


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_closed_order_does_not_affect_the_next_order(client: FlaskClient, status: str):
    first = place(client)
    close(client, first, "cancelled")
    second = client.post(ORDERS, json={"petId": first["petId"]}).json
    assert close(client, first, status).status_code == 409
    assert pet_of(client, first)["status"] == "pending"
    assert client.get(f"{ORDERS}/{second['id']}").json == second


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_order_of_another_project_looks_like_a_missing_one(
    client: FlaskClient, rival_client: FlaskClient, status: str
):
    missing = close(rival_client, {"id": 1}, status)
    order = place(client)
    foreign = close(rival_client, order, status)
    assert foreign.status_code == missing.status_code == 404
    assert foreign.json == missing.json
    pairs = zip(foreign.headers.items(), missing.headers.items(), strict=True)
    assert {one[0] for one, other in pairs if one != other} <= PER_REQUEST
    assert client.get(f"{ORDERS}/{order['id']}").json == order
    assert pet_of(client, order)["status"] == "pending"


@of_one_engine
def test_invalid_body_is_refused_with_a_reason(client: FlaskClient):
    order, unknown = place(client), "status: must be one of completed, cancelled"
    faults = {
        "{}": "status: is required",
        **{
            f'{{"status": {value}}}': unknown
            for value in ("null", "true", '"placed"', '"COMPLETED"', '["completed"]')
        },
        '{"status": "completed", "petId": 1}': "petId: is unknown",
        '{"status": "completed", "status": "cancelled"}': (
            "status: must not be repeated"
        ),
    }
    for body, fault in faults.items():
        answer = client.patch(f"{ORDERS}/{order['id']}", data=body, headers=JSON)
        assert (answer.status_code, answer.json["message"]) == (400, fault)
    assert client.get(f"{ORDERS}/{order['id']}").json == order


@pytest.mark.parametrize("order_id", ["2", str(2**63 - 1)])
def test_unknown_order_id_is_not_found(client: FlaskClient, order_id: str):
    place(client)
    answer = close(client, {"id": order_id}, "completed")
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")
