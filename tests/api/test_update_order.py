"""updateOrder: PATCH /v1/store/orders/{orderId} (decisions on orders)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.clocks import Clock

ORDERS = "/v1/store/orders"
JSON = {"Content-Type": "application/json"}
ENDS = [("completed", "sold"), ("cancelled", "available")]
PER_REQUEST = {"X-Request-ID", "X-RateLimit-Remaining", "RateLimit"}
# Rejected before the handler uses the database, so one engine is enough.
of_one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


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
    answer = close(client, order, status)
    assert answer.status_code == 200
    assert answer.json == order | {"status": status}
    assert pet_of(client, order)["status"] == pet_status


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_closing_an_order_changes_no_other_order_or_pet(
    client: FlaskClient, rival_client: FlaskClient, status: str
):
    other, foreign = place(client), place(rival_client)
    close(client, place(client), status)
    for owner, order in [(client, other), (rival_client, foreign)]:
        assert owner.get(f"{ORDERS}/{order['id']}").json == order
        assert pet_of(owner, order)["status"] == "pending"


def test_closing_an_order_changes_nothing_else_of_its_pet(client: FlaskClient):
    order = place(client)
    before = pet_of(client, order)
    close(client, order, "completed")
    assert pet_of(client, order) == before | {"status": "sold"}


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


@pytest.mark.parametrize("again", ["completed", "cancelled"])
@pytest.mark.parametrize(("status", "pet_status"), ENDS)
def test_closed_order_cannot_be_changed(
    client: FlaskClient, clock: Clock, status: str, pet_status: str, again: str
):
    order = place(client)
    closed = close(client, order, status).json
    clock.move(seconds=1)
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


def test_closed_order_of_another_project_looks_like_a_missing_one(
    client: FlaskClient, rival_client: FlaskClient
):
    missing = close(rival_client, {"id": 1}, "completed").json
    close(client, place(client), "completed")
    assert close(rival_client, {"id": 1}, "completed").json == missing


@of_one_engine
@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("{}", "status: is required"),
        *[
            (f'{{"status": {value}}}', "status: must be one of completed, cancelled")
            for value in (
                *["null", "1", "true", '""', '"placed"', '"sold"', '"COMPLETED"'],
                *['"completed "', '["completed"]', '"cancelled\\u0000"'],
            )
        ],
        ('{"status": "completed", "petId": 1}', "petId: is not known here"),
        ('{"status": "completed", "status": "cancelled"}', "status: stands twice"),
        ('["completed"]', "body: must be a JSON object"),
        (
            "{'status': 'completed'}",
            "body: must be JSON in UTF-8, with numbers up to 1.8e308",
        ),
    ],
)
def test_invalid_body_is_refused_with_a_reason(
    client: FlaskClient, body: str, fault: str
):
    order = place(client)
    answer = client.patch(f"{ORDERS}/{order['id']}", data=body, headers=JSON)
    assert (answer.status_code, answer.json["code"]) == (400, "invalid_request")
    assert answer.json["message"] == fault
    assert client.get(f"{ORDERS}/{order['id']}").json == order


@of_one_engine
@pytest.mark.parametrize("kind", ["application/merge-patch+json", "text/plain"])
def test_body_other_than_json_is_an_unsupported_media_type(
    client: FlaskClient, kind: str
):
    order = place(client)
    answer = client.patch(
        f"{ORDERS}/{order['id']}",
        data='{"status": "completed"}',
        headers={"Content-Type": kind},
    )
    assert answer.status_code == 415
    assert pet_of(client, order)["status"] == "pending"


@pytest.mark.parametrize("order_id", ["0", "2", "01", str(2**63 - 1), str(2**63)])
def test_unknown_order_id_is_not_found(client: FlaskClient, order_id: str):
    place(client)
    answer = close(client, {"id": order_id}, "completed")
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")
