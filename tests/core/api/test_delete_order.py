"""deleteOrder: DELETE /v1/store/orders/{orderId} (decisions on orders)."""

import pytest
from flask.testing import FlaskClient

from tests.harness.answers import NOT_FOUND, error_of
from tests.harness.clients import ORDERS


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_a_closed_order_is_deleted_and_an_open_one_is_not(
    client: FlaskClient, order: dict, status: str
):
    path = f"{ORDERS}/{order['id']}"
    refused = client.delete(path)
    assert error_of(refused) == (409, "order_open")
    expected = f"The order {order['id']} is open: complete or cancel it first."
    assert refused.json["message"] == expected
    client.patch(path, json={"status": status})
    pets = client.get("/v1/pets").json
    answer = client.delete(path)
    assert (answer.status_code, answer.data) == (204, b"")
    assert error_of(client.delete(path)) == NOT_FOUND
    assert (client.get(ORDERS).json, client.get("/v1/pets").json) == ([], pets)
