"""listOrders: GET /v1/store/orders (decisions on orders); see test_lists.py."""

from flask.testing import FlaskClient

from tests.core.api.conftest import REX
from tests.harness.clients import ORDERS


def test_orders_of_one_animal_are_listed(client: FlaskClient, rex: dict, order: dict):
    tom = client.post("/v1/pets", json=REX).json
    other = client.post(ORDERS, json={"petId": tom["id"]}).json
    first = client.patch(f"{ORDERS}/{order['id']}", json={"status": "cancelled"}).json
    second = client.post(ORDERS, json={"petId": rex["id"]}).json
    of_rex = f"petId={rex['id']}"
    for query, found in (
        ("", [first, other, second]),
        ("status=cancelled", [first]),
        ("status=placed", [other, second]),
        (of_rex, [first, second]),
        (f"{of_rex}&status=placed", [second]),
        (f"{of_rex}&limit=1&after={first['id']}", [second]),
        ("petId=0", []),
    ):
        assert client.get(f"{ORDERS}?{query}").json == found
