"""deleteOrder: DELETE /v1/store/orders/{orderId} (decisions on orders)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.harness.answers import NOT_FOUND, error_of

ORDERS = "/v1/store/orders"


def delete(client: FlaskClient, order: dict) -> TestResponse:
    return client.delete(f"{ORDERS}/{order['id']}")


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_a_closed_order_is_deleted(client: FlaskClient, order: dict, status: str):
    client.patch(f"{ORDERS}/{order['id']}", json={"status": status})
    pets = client.get("/v1/pets").json
    answer = delete(client, order)
    assert (answer.status_code, answer.data) == (204, b"")
    assert error_of(delete(client, order)) == NOT_FOUND
    assert client.get(ORDERS).json == []
    assert client.get("/v1/pets").json == pets


def test_an_open_order_is_not_deleted(client: FlaskClient, order: dict):
    answer = delete(client, order)
    assert error_of(answer) == (409, "order_open")
    expected = f"The order {order['id']} is open: complete or cancel it first."
    assert answer.json["message"] == expected
    assert client.get(ORDERS).json == [order]


def test_order_of_another_project_looks_like_a_missing_one(
    client: FlaskClient, rival_client: FlaskClient, order: dict
):
    client.patch(f"{ORDERS}/{order['id']}", json={"status": "cancelled"})
    assert error_of(delete(rival_client, order)) == NOT_FOUND
    assert len(client.get(ORDERS).json) == 1
