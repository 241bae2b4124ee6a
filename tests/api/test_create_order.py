"""createOrder: POST /v1/store/orders (decisions on orders)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.clocks import Clock

ORDERS = "/v1/store/orders"
JSON = {"Content-Type": "application/json"}
NOWHERE = (400, "petId: names no animal")
# Rejected before the handler uses the database, so one engine is enough.
of_one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def rex(client: FlaskClient) -> int:
    return add_pet(client)


def add_pet(client: FlaskClient, status: str = "available") -> int:
    pet = {"name": "Rex", "categoryId": 7, "status": status}
    return client.post("/v1/pets", json=pet).json["id"]


def order(client: FlaskClient, pet_id: object, key: str | None = None) -> TestResponse:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(ORDERS, json={"petId": pet_id}, headers=headers)


def close(client: FlaskClient, placed: TestResponse, status: str) -> TestResponse:
    return client.patch(placed.headers["Location"], json={"status": status})


def status_of(client: FlaskClient, pet_id: int) -> str:
    return client.get(f"/v1/pets/{pet_id}").json["status"]


def refusal_of(answer: TestResponse) -> tuple[int, str]:
    assert set(answer.json) == {"code", "message", "status"}
    assert answer.json["status"] == answer.status_code
    is_invalid = answer.json["code"] == "invalid_request"
    return answer.status_code, answer.json["message" if is_invalid else "code"]


def test_created_order_is_returned_with_all_its_members(
    client: FlaskClient, rex: int, clock: Clock
):
    answer = order(client, rex)
    assert answer.status_code == 201
    assert answer.json == {
        "id": answer.json["id"],
        "petId": rex,
        "status": "placed",
        "createdAt": "2027-03-17T12:00:10.000Z",
        "updatedAt": "2027-03-17T12:00:10.000Z",
    }


def test_location_header_points_to_the_order(client: FlaskClient, rex: int):
    answer = order(client, rex)
    assert answer.headers["Location"] == f"{ORDERS}/{answer.json['id']}"
    assert client.get(answer.headers["Location"]).json == answer.json


def test_only_the_ordered_pet_becomes_pending(
    client: FlaskClient, rival_client: FlaskClient, rex: int
):
    mia, tom = add_pet(client), add_pet(rival_client)
    order(client, rex)
    assert status_of(client, rex) == "pending"
    assert status_of(client, mia) == "available"
    assert status_of(rival_client, tom) == "available"


@pytest.mark.parametrize("status", ["pending", "sold"])
def test_unavailable_pet_cannot_be_ordered(client: FlaskClient, status: str):
    rex = add_pet(client, status)
    assert refusal_of(order(client, rex)) == (409, "pet_not_available")
    assert status_of(client, rex) == status
    assert client.get(ORDERS).json == []


def test_pet_with_an_open_order_cannot_be_ordered(client: FlaskClient, rex: int):
    placed = order(client, rex)
    assert refusal_of(order(client, rex)) == (409, "pet_not_available")
    assert client.get(ORDERS).json == [placed.json]


def test_pet_of_a_completed_order_cannot_be_ordered(client: FlaskClient, rex: int):
    close(client, order(client, rex), "completed")
    assert refusal_of(order(client, rex)) == (409, "pet_not_available")
    assert status_of(client, rex) == "sold"


def test_pet_of_a_cancelled_order_can_be_ordered_again(client: FlaskClient, rex: int):
    first = order(client, rex)
    cancelled = close(client, first, "cancelled").json
    second = order(client, rex)
    assert second.status_code == 201
    assert second.json["id"] > first.json["id"]
    assert status_of(client, rex) == "pending"
    assert client.get(ORDERS).json == [cancelled, second.json]


def test_pet_of_another_project_looks_like_a_missing_one(
    client: FlaskClient, rival_client: FlaskClient, rex: int
):
    foreign, missing = order(rival_client, rex), order(rival_client, rex + 1)
    assert refusal_of(foreign) == refusal_of(missing) == NOWHERE
    assert set(foreign.headers.keys()) == set(missing.headers.keys())
    assert status_of(client, rex) == "available"
    assert rival_client.get(ORDERS).json == client.get(ORDERS).json == []


@pytest.mark.parametrize("pet_id", [0, 1, 2**31, 2**53 + 1, 2**63 - 1])
def test_unknown_pet_id_is_refused(client: FlaskClient, pet_id: int):
    assert refusal_of(order(client, pet_id)) == NOWHERE


@of_one_engine
@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("{}", "petId: is required"),
        *[
            (
                f'{{"petId": {value}}}',
                f"petId: must be an integer from 0 to {2**63 - 1}",
            )
            for value in ("null", '"1"', "true", "1.5", "-1", "[1]", "{}", str(2**63))
        ],
        ('{"petId": 1, "status": "placed"}', "status: is not known here"),
        ('{"petId": 1, "id": 1}', "id: is not known here"),
        ('{"petId": 1, "petId": 1}', "petId: stands twice"),
        ('{"pet_id": 1}', "pet_id: is not known here"),
        ("[]", "body: must be a JSON object"),
        ("null", "body: must be a JSON object"),
        ('{"petId": 1', "body: must be JSON in UTF-8, with numbers up to 1.8e308"),
        ("", "body: must be JSON in UTF-8, with numbers up to 1.8e308"),
    ],
)
def test_invalid_body_is_refused_with_a_reason(
    client: FlaskClient, rex: int, body: str, fault: str
):
    status, message = refusal_of(client.post(ORDERS, data=body, headers=JSON))
    assert status == 400
    assert fault in message.split("; ")
    assert status_of(client, rex) == "available"


@pytest.mark.parametrize("spelling", ["{}.0", "{}e0", "{}00e-2"])
def test_pet_id_is_accepted_in_any_integer_notation(
    client: FlaskClient, rex: int, spelling: str
):
    body = f'{{"petId": {spelling.format(rex)}}}'
    answer = client.post(ORDERS, data=body, headers=JSON)
    assert (answer.status_code, answer.json["petId"]) == (201, rex)


def test_retry_returns_the_same_order(client: FlaskClient, rex: int):
    first = order(client, rex, key="once")
    close(client, first, "cancelled")
    retry = order(client, rex, key="once")
    assert (retry.json, retry.status_code) == (first.json, 201)
    assert retry.headers["Location"] == first.headers["Location"]
    assert status_of(client, rex) == "available"


def test_retry_of_a_refused_order_is_refused_again(client: FlaskClient, rex: int):
    placed = order(client, rex)
    order(client, rex, key="late")
    close(client, placed, "cancelled")
    retry = order(client, rex, key="late")
    assert refusal_of(retry) == (409, "pet_not_available")
    assert status_of(client, rex) == "available"


def test_order_for_an_unknown_pet_does_not_use_up_the_key(client: FlaskClient):
    assert refusal_of(order(client, 1, key="early")) == NOWHERE
    assert order(client, add_pet(client), key="early").status_code == 201
