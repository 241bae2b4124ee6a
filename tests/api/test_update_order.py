"""updateOrder: PATCH /v1/store/orders/{orderId} (decisions on orders)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.clocks import Clock

ORDERS = "/v1/store/orders"
JSON = {"Content-Type": "application/json"}
ENDS = [("completed", "sold"), ("cancelled", "available")]
PER_REQUEST = {"X-Request-ID", "X-RateLimit-Remaining", "RateLimit"}
# What is refused at the door never meets the database.
of_one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def place(client: FlaskClient) -> dict:
    pet = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    return client.post(ORDERS, json={"petId": pet["id"]}).json


def close(client: FlaskClient, order: dict, status: str) -> TestResponse:
    return client.patch(f"{ORDERS}/{order['id']}", json={"status": status})


def pet_of(client: FlaskClient, order: dict) -> dict:
    return client.get(f"/v1/pets/{order['petId']}").json


@pytest.mark.parametrize(("status", "pet_status"), ENDS)
def test_closing_an_order_moves_its_animal(
    client: FlaskClient, status: str, pet_status: str
):
    order = place(client)
    answer = close(client, order, status)
    assert answer.status_code == 200
    assert answer.json == order | {"status": status}
    assert pet_of(client, order)["status"] == pet_status


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_no_other_order_and_no_other_animal_moves(
    client: FlaskClient, rival_client: FlaskClient, status: str
):
    other, foreign = place(client), place(rival_client)
    close(client, place(client), status)
    for owner, order in [(client, other), (rival_client, foreign)]:
        assert owner.get(f"{ORDERS}/{order['id']}").json == order
        assert pet_of(owner, order)["status"] == "pending"


def test_only_the_status_of_an_animal_moves(client: FlaskClient):
    order = place(client)
    before = pet_of(client, order)
    close(client, order, "completed")
    assert pet_of(client, order) == before | {"status": "sold"}


def test_updated_at_moves_and_created_at_stays(client: FlaskClient, clock: Clock):
    order = place(client)
    clock.move(seconds=90.5)
    closed = close(client, order, "completed").json
    assert closed["createdAt"] == order["createdAt"] == "2027-03-17T12:00:10.000Z"
    assert closed["updatedAt"] == "2027-03-17T12:01:40.500Z"


def test_an_order_is_not_updated_before_it_was_created(
    client: FlaskClient, clock: Clock
):
    order = place(client)
    clock.move(seconds=-5)
    assert close(client, order, "completed").json["updatedAt"] == order["createdAt"]


@pytest.mark.parametrize("again", ["completed", "cancelled"])
@pytest.mark.parametrize(("status", "pet_status"), ENDS)
def test_a_closed_order_stays_as_it_is(
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
def test_a_closed_order_does_not_touch_the_next_one(client: FlaskClient, status: str):
    first = place(client)
    close(client, first, "cancelled")
    second = client.post(ORDERS, json={"petId": first["petId"]}).json
    assert close(client, first, status).status_code == 409
    assert pet_of(client, first)["status"] == "pending"
    assert client.get(f"{ORDERS}/{second['id']}").json == second


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_an_order_of_another_project_answers_as_one_that_does_not_exist(
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


def test_nor_does_a_closed_order_of_another_project_give_itself_away(
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
        ("{'status': 'completed'}", "body: is not valid JSON in UTF-8"),
    ],
)
def test_a_wrong_body_is_refused_by_name(client: FlaskClient, body: str, fault: str):
    order = place(client)
    answer = client.patch(f"{ORDERS}/{order['id']}", data=body, headers=JSON)
    assert (answer.status_code, answer.json["code"]) == (400, "invalid_request")
    assert answer.json["message"] == fault
    assert client.get(f"{ORDERS}/{order['id']}").json == order


@of_one_engine
@pytest.mark.parametrize("kind", ["application/merge-patch+json", "text/plain"])
def test_only_plain_json_is_taken(client: FlaskClient, kind: str):
    order = place(client)
    answer = client.patch(
        f"{ORDERS}/{order['id']}",
        data='{"status": "completed"}',
        headers={"Content-Type": kind},
    )
    assert answer.status_code == 415
    assert pet_of(client, order)["status"] == "pending"


@pytest.mark.parametrize("order_id", ["0", "2", "01", str(2**63 - 1), str(2**63)])
def test_an_id_that_no_order_has_is_not_found(client: FlaskClient, order_id: str):
    place(client)
    answer = close(client, {"id": order_id}, "completed")
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")
