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


def test_orders_of_one_animal_are_listed(client: FlaskClient, rex: dict, order: dict):
    tom = client.post("/v1/pets", json={"name": "Tom", "categoryId": 7}).json
    other = client.post(ORDERS, json={"petId": tom["id"]}).json
    first = client.patch(f"{ORDERS}/{order['id']}", json={"status": "cancelled"}).json
    second = client.post(ORDERS, json={"petId": rex["id"]}).json
    of_rex = f"{ORDERS}?petId={rex['id']}"
    assert client.get(of_rex).json == [first, second]
    assert client.get(f"{of_rex}&status=placed").json == [second]
    assert client.get(f"{of_rex}&limit=1&after={first['id']}").json == [second]
    assert client.get(f"{ORDERS}?petId={tom['id']}").json == [other]
    assert client.get(f"{ORDERS}?petId=0").json == []
