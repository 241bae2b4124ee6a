"""updateOrder: PATCH /v1/store/orders/{orderId} (decisions on orders)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.harness.answers import NOT_FOUND, error_of, seen
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

ORDERS = "/v1/store/orders"
JSON = {"Content-Type": "application/json"}
each_end = pytest.mark.parametrize(
    ("status", "pet_status"), [("completed", "sold"), ("cancelled", "available")]
)


def place(client: FlaskClient) -> dict:
    pet = client.post("/v1/pets", json={"name": "Tom", "categoryId": 8}).json
    return client.post(ORDERS, json={"petId": pet["id"]}).json


def close(client: FlaskClient, order: dict, status: str) -> TestResponse:
    return client.patch(f"{ORDERS}/{order['id']}", json={"status": status})


def rows_of(client: FlaskClient, order: dict) -> tuple[dict, dict]:
    """Return the order and its animal, as they are now."""
    paths = f"{ORDERS}/{order['id']}", f"/v1/pets/{order['petId']}"
    return tuple(client.get(path).json for path in paths)


@each_end
def test_closing_an_order_changes_the_status_of_its_pet(
    client: FlaskClient, rex: dict, order: dict, status: str, pet_status: str
):
    answer = close(client, order, status)
    assert answer.status_code == 200
    assert answer.json == order | {"status": status}
    assert rows_of(client, order) == (answer.json, rex | {"status": pet_status})


@each_end
def test_closing_an_order_changes_no_other_order_or_pet(
    client: FlaskClient,
    rival_client: FlaskClient,
    order: dict,
    status: str,
    pet_status: str,
):
    others = [(each, place(each)) for each in (client, rival_client)]
    before = [rows_of(*other) for other in others]
    close(client, order, status)
    assert [rows_of(*other) for other in others] == before


def test_closing_sets_updated_at_and_keeps_created_at(
    client: FlaskClient, order: dict, clock: Clock
):
    clock.move(seconds=90.5)
    closed = close(client, order, "completed").json
    assert closed["createdAt"] == order["createdAt"] == "2027-03-17T12:00:10.000Z"
    assert closed["updatedAt"] == "2027-03-17T12:01:40.500Z"


def test_updated_at_is_never_before_created_at(
    client: FlaskClient, order: dict, clock: Clock
):
    clock.move(seconds=-5)
    assert close(client, order, "completed").json["updatedAt"] == order["createdAt"]


@each_end
def test_closed_order_cannot_be_changed(
    client: FlaskClient, order: dict, clock: Clock, status: str, pet_status: str
):
    close(client, order, status)
    closed = rows_of(client, order)
    clock.move(seconds=1)
    for again in ("completed", "cancelled"):
        assert error_of(close(client, order, again)) == (409, "order_closed")
    assert rows_of(client, order) == closed


@each_end
def test_closed_order_does_not_affect_the_next_order(
    client: FlaskClient, order: dict, status: str, pet_status: str
):
    close(client, order, "cancelled")
    second = client.post(ORDERS, json={"petId": order["petId"]}).json
    before = rows_of(client, second)
    assert close(client, order, status).status_code == 409
    assert rows_of(client, second) == before


@each_end
def test_order_of_another_project_looks_like_a_missing_one(
    client: FlaskClient,
    rival_client: FlaskClient,
    order: dict,
    status: str,
    pet_status: str,
):
    before = rows_of(client, order)
    ids = (order["id"], order["id"] + 1, 2**63 - 1)
    foreign, missing, last = (close(rival_client, {"id": n}, status) for n in ids)
    assert error_of(foreign) == error_of(last) == NOT_FOUND
    assert seen(foreign) == seen(missing)
    assert rows_of(client, order) == before


@pytest.mark.parametrize("reference", ["Mr Babbage", None])
def test_the_reference_of_an_open_order_is_corrected_or_erased(
    client: FlaskClient, rex: dict, order: dict, clock: Clock, reference: str | None
):
    clock.move(seconds=1)
    path = f"{ORDERS}/{order['id']}"
    answer = client.patch(path, json={"reference": reference})
    updated = {"reference": reference, "updatedAt": "2027-03-17T12:00:11.000Z"}
    assert (answer.status_code, answer.json) == (200, order | updated)
    assert rows_of(client, order) == (answer.json, rex | {"status": "pending"})


def test_the_reference_of_a_closed_order_is_erased_but_not_together_with_a_status(
    client: FlaskClient, order: dict
):
    path = f"{ORDERS}/{order['id']}"
    both = {"status": "completed", "reference": "Mr Babbage"}
    closed = order | both
    assert client.patch(path, json=both).json == closed
    refused = client.patch(path, json=both | {"reference": None})
    assert error_of(refused) == (409, "order_closed")
    assert "is completed already" in refused.json["message"]
    assert client.get(path).json == closed
    erased = client.patch(path, json={"reference": None})
    assert erased.json == closed | {"reference": None}


@of_one_engine
def test_invalid_body_is_refused_with_a_reason(client: FlaskClient, order: dict):
    unknown = "status: must be one of completed, cancelled"
    faults = {
        "{}": "body: must have status or reference",
        '{"reference": ""}': "reference: must have 1 to 200 characters",
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
