"""getOrder: GET /v1/store/orders/{orderId} (decisions on orders)."""

import pytest
from flask.testing import FlaskClient

ORDERS = "/v1/store/orders"
PER_REQUEST = {"X-Request-ID", "X-RateLimit-Remaining", "RateLimit"}
# Rejected before the handler uses the database, so one engine is enough.
of_one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def place(client: FlaskClient) -> dict:
    pet = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    return client.post(ORDERS, json={"petId": pet["id"]}).json


def test_an_order_is_fetched_by_its_id(client: FlaskClient):
    orders = [place(client), place(client)]
    answers = [client.get(f"{ORDERS}/{order['id']}") for order in orders]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert [answer.json for answer in answers] == orders


@pytest.mark.parametrize(
    ("status", "pet_status"), [("completed", "sold"), ("cancelled", "available")]
)
def test_closed_order_can_still_be_fetched(
    client: FlaskClient, status: str, pet_status: str
):
    order = place(client)
    closed = client.patch(f"{ORDERS}/{order['id']}", json={"status": status}).json
    assert client.get(f"{ORDERS}/{order['id']}").json == closed
    assert client.get(f"/v1/pets/{order['petId']}").json["status"] == pet_status


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


@pytest.mark.parametrize("order_id", [0, 2, 2**63 - 1])
def test_unknown_order_id_is_not_found(client: FlaskClient, order_id: int):
    place(client)
    answer = client.get(f"{ORDERS}/{order_id}")
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")


@of_one_engine
@pytest.mark.parametrize(
    "order_id",
    [
        *["9223372036854775808", "1" * 400, "01", "+1", "-1", "1.0", "1e0"],
        *["x", "1/", "%31%00", "١", "1;", "1 ", ""],
    ],
)
def test_invalid_order_id_is_not_found(client: FlaskClient, order_id: str):
    place(client)
    answer = client.get(f"{ORDERS}/{order_id}")
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")
    assert set(answer.json) == {"code", "message", "status"}


def test_head_answers_like_get_without_the_body(client: FlaskClient):
    address = f"{ORDERS}/{place(client)['id']}"
    head, get = client.head(address), client.get(address)
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Content-Length"] == get.headers["Content-Length"]


@of_one_engine
@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_unsupported_method_gets_the_allowed_methods(client: FlaskClient, method: str):
    answer = client.open(f"{ORDERS}/{place(client)['id']}", method=method)
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS, PATCH"


def test_query_parameters_are_refused(client: FlaskClient):
    answer = client.get(f"{ORDERS}/{place(client)['id']}?status=placed")
    assert answer.status_code == 400
    assert answer.json["message"] == "status: is not known here"
