"""updateOrder: PATCH /v1/store/orders/{orderId} (decisions on orders)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.harness.answers import error_of
from tests.harness.clients import ORDERS
from tests.harness.clocks import Clock

each_end = pytest.mark.parametrize(
    ("status", "pet_status"), [("completed", "sold"), ("cancelled", "available")]
)


def change(client: FlaskClient, order: dict, **changes: str | None) -> TestResponse:
    return client.patch(f"{ORDERS}/{order['id']}", json=changes)


def rows_of(client: FlaskClient) -> tuple[list, list]:
    """Return all orders and animals, as they are now."""
    return client.get(ORDERS).json, client.get("/v1/pets").json


@each_end
def test_closing_an_order_changes_the_status_of_its_pet_alone(
    client: FlaskClient, rex: dict, order: dict, status: str, pet_status: str
):
    tom = client.post("/v1/pets", json={"name": "Tom", "categoryId": 8}).json
    other = client.post(ORDERS, json={"petId": tom["id"]}).json
    answer = change(client, order, status=status)
    assert answer.status_code == 200
    assert answer.json == order | {"status": status}
    pets = [rex | {"status": pet_status}, tom | {"status": "pending"}]
    assert rows_of(client) == ([answer.json, other], pets)


@pytest.mark.parametrize(
    ("seconds", "updated"), [(90.5, "2027-03-17T12:01:40.500Z"), (-5, None)]
)
def test_closing_sets_updated_at_never_before_created_at(
    client: FlaskClient, order: dict, clock: Clock, seconds: float, updated: str | None
):
    clock.move(seconds=seconds)
    closed = change(client, order, status="completed").json
    assert closed["createdAt"] == order["createdAt"] == "2027-03-17T12:00:10.000Z"
    assert closed["updatedAt"] == (updated or order["createdAt"])


@each_end
def test_closed_order_cannot_be_changed_nor_change_the_next_order(
    client: FlaskClient, order: dict, clock: Clock, status: str, pet_status: str
):
    change(client, order, status=status)
    if pet_status == "available":
        client.post(ORDERS, json={"petId": order["petId"]})
    before = rows_of(client)
    clock.move(seconds=1)
    for again in ("completed", "cancelled"):
        refused = change(client, order, status=again)
        assert error_of(refused) == (409, "order_closed")
    assert rows_of(client) == before


@pytest.mark.parametrize("reference", ["Mr Babbage", None])
def test_the_reference_of_an_open_order_is_corrected_or_erased(
    client: FlaskClient, rex: dict, order: dict, clock: Clock, reference: str | None
):
    clock.move(seconds=1)
    answer = change(client, order, reference=reference)
    updated = {"reference": reference, "updatedAt": "2027-03-17T12:00:11.000Z"}
    assert (answer.status_code, answer.json) == (200, order | updated)
    assert rows_of(client) == ([answer.json], [rex | {"status": "pending"}])


def test_the_reference_of_a_closed_order_is_erased_but_not_together_with_a_status(
    client: FlaskClient, order: dict
):
    both = {"status": "completed", "reference": "Mr Babbage"}
    closed = order | both
    assert change(client, order, **both).json == closed
    refused = change(client, order, **both | {"reference": None})
    assert error_of(refused) == (409, "order_closed")
    assert "is completed already" in refused.json["message"]
    assert client.get(ORDERS).json == [closed]
    erased = change(client, order, reference=None)
    assert erased.json == closed | {"reference": None}
