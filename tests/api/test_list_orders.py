"""listOrders: GET /v1/store/orders (decisions on orders); see test_lists.py."""

from flask.testing import FlaskClient

ORDERS = "/v1/store/orders"


def test_closed_order_is_listed_under_its_new_status(client: FlaskClient):
    pet = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    order = client.post(ORDERS, json={"petId": pet["id"]}).json
    assert client.get(ORDERS).json == [order]
    client.patch(f"{ORDERS}/{order['id']}", json={"status": "cancelled"})
    assert client.get(f"{ORDERS}?status=placed").json == []
    [cancelled] = client.get(f"{ORDERS}?status=cancelled").json
    assert cancelled == order | {"status": "cancelled"}
