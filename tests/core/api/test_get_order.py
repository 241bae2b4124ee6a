"""getOrder: GET /v1/store/orders/{orderId} (decisions on orders)."""

from flask.testing import FlaskClient

from tests.harness.clients import ORDERS


def test_an_order_is_fetched_by_its_id(client: FlaskClient, order: dict):
    answer = client.get(f"{ORDERS}/{order['id']}")
    assert (answer.status_code, answer.json) == (200, order)
