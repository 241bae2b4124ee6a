"""getOrder: GET /v1/store/orders/{orderId} (decisions on orders)."""

from flask.testing import FlaskClient

from tests.harness.databases import of_one_engine

ORDERS = "/v1/store/orders"
PER_REQUEST = {"X-Request-ID", "X-RateLimit-Remaining", "RateLimit"}


def place(client: FlaskClient) -> dict:
    pet = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    return client.post(ORDERS, json={"petId": pet["id"]}).json


def test_an_order_is_fetched_by_its_id(client: FlaskClient):
    orders = [place(client), place(client)]
    answers = [client.get(f"{ORDERS}/{order['id']}") for order in orders]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert [answer.json for answer in answers] == orders


def test_order_of_another_project_looks_like_a_missing_one(
    client: FlaskClient, rival_client: FlaskClient
):
    missing = rival_client.get(f"{ORDERS}/1")
    assert place(client)["id"] == 1
    foreign = rival_client.get(f"{ORDERS}/1")
    assert foreign.status_code == missing.status_code == 404
    assert foreign.json == missing.json
    assert foreign.json["code"] == "not_found"
    pairs = zip(foreign.headers.items(), missing.headers.items(), strict=True)
    assert {one[0] for one, other in pairs if one != other} <= PER_REQUEST


@of_one_engine
def test_head_answers_like_get_without_the_body(client: FlaskClient):
    address = f"{ORDERS}/{place(client)['id']}"
    head, get = client.head(address), client.get(address)
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Content-Length"] == get.headers["Content-Length"]


@of_one_engine
def test_query_parameters_are_refused(client: FlaskClient):
    answer = client.get(f"{ORDERS}/{place(client)['id']}?status=placed")
    assert answer.status_code == 400
    assert answer.json["message"] == "status: is unknown"
