"""updatePet: PATCH /v1/pets/{petId} (decisions on animals)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore import clock as service_clock
from tests.harness.answers import NOT_FOUND, error_of, seen
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

JSON = {"Content-Type": "application/json"}
MIA = {"name": "Mia", "categoryId": 8}
REMOVAL_MS = service_clock.instant_ms(2030, 12, 5)


def correct(client: FlaskClient, pet: dict, **changes: object) -> TestResponse:
    return client.patch(f"/v1/pets/{pet['id']}", json=changes)


@pytest.mark.parametrize(
    "changes", [{"name": "Max"}, {"categoryId": 8}, {"status": "sold"}, MIA]
)
def test_what_is_given_is_corrected_and_the_rest_stays(
    client: FlaskClient, rex: dict, changes: dict
):
    other = client.post("/v1/pets", json=MIA).json
    answer = correct(client, rex, **changes)
    assert (answer.status_code, answer.json) == (200, rex | changes)
    assert client.get("/v1/pets").json == [answer.json, other]


@pytest.mark.parametrize("status", ["pending", "sold"])
def test_an_animal_of_any_status_is_corrected_and_keeps_it(
    client: FlaskClient, status: str
):
    pet = client.post("/v1/pets", json=MIA | {"status": status}).json
    assert correct(client, pet, name="Max").json == pet | {"name": "Max"}


def test_an_order_goes_on_after_its_animal_was_corrected(
    client: FlaskClient, rex: dict, order: dict
):
    correct(client, rex, name="Max", categoryId=9)
    path = f"/v1/store/orders/{order['id']}"
    assert client.patch(path, json={"status": "completed"}).status_code == 200
    expected = rex | {"name": "Max", "categoryId": 9, "status": "sold"}
    assert client.get("/v1/pets").json == [expected]


@pytest.mark.parametrize("status", ["available", "sold"])
def test_an_animal_with_an_open_order_has_its_status_from_that_order(
    client: FlaskClient, rex: dict, order: dict, status: str
):
    answer = correct(client, rex, name="Max", status=status)
    assert error_of(answer) == (409, "pet_not_available")
    assert answer.json["message"] == (
        f"The animal {rex['id']} has the open order {order['id']}: "
        "complete or cancel it first."
    )
    corrected = correct(client, rex, name="Max", status="pending")
    assert corrected.json == rex | {"name": "Max", "status": "pending"}


def test_an_animal_that_is_returned_is_taken_back(
    client: FlaskClient, rex: dict, order: dict
):
    path = f"/v1/store/orders/{order['id']}"
    client.patch(path, json={"status": "completed"})
    assert correct(client, rex, status="available").json == rex
    again = client.post("/v1/store/orders", json={"petId": rex["id"]})
    assert again.status_code == 201


def test_a_new_category_comes_into_being(client: FlaskClient, rex: dict):
    correct(client, rex, categoryId=99)
    listed = client.get("/v1/categories").json
    assert listed == [{"id": 7, "name": None}, {"id": 99, "name": None}]


def test_a_category_keeps_its_name(client: FlaskClient, rex: dict):
    client.put("/v1/categories/8", json={"name": "Cats"})
    correct(client, rex, categoryId=8)
    listed = client.get("/v1/categories").json
    assert listed == [{"id": 7, "name": None}, {"id": 8, "name": "Cats"}]


def test_pet_of_another_project_looks_like_a_missing_one(
    client: FlaskClient, rival_client: FlaskClient, rex: dict
):
    ids = (rex["id"], rex["id"] + 1, 0, 2**63 - 1)
    answers = [correct(rival_client, {"id": each}, **MIA) for each in ids]
    assert {error_of(answer) for answer in answers} == {NOT_FOUND}
    assert seen(answers[0]) == seen(answers[1])
    assert client.get("/v1/pets").json == [rex]
    assert rival_client.get("/v1/categories").json == []


def test_retry_with_an_idempotency_key_gets_the_stored_response(
    client: FlaskClient, rex: dict
):
    def send(name: str) -> TestResponse:
        path, headers = f"/v1/pets/{rex['id']}", {"Idempotency-Key": "a"}
        return client.patch(path, json={"name": name}, headers=headers)

    first = send("Max")
    correct(client, rex, name="Moritz")
    second = send("Max")
    assert (second.status_code, second.data) == (200, first.data)
    assert second.headers["Idempotent-Replayed"] == "true"
    assert error_of(send("Rex")) == (422, "idempotency_key_reused")
    assert client.get("/v1/pets").json == [rex | {"name": "Moritz"}]


@of_one_engine
def test_invalid_body_is_refused_with_a_reason(client: FlaskClient, rex: dict):
    name = "name: must have 1 to 200 characters"
    category = f"categoryId: must be an integer from 0 to {2**63 - 1}"
    faults = {
        "{}": "body: must have name or categoryId or status",
        '{"name": null}': "name: must be a string",
        '{"categoryId": null}': category,
        '{"name": "", "categoryId": -1}': f"{name}; {category}",
        '{"name": "Max", "status": "Sold"}': (
            "status: must be one of available, pending, sold"
        ),
        '{"name": "Max", "id": 9}': "id: is unknown",
        '{"name": "Max", "name": "Max"}': "name: must not be repeated",
        "[]": "body: must be a JSON object",
    }
    for body, fault in faults.items():
        answer = client.patch(f"/v1/pets/{rex['id']}", data=body, headers=JSON)
        assert (answer.status_code, answer.json["message"]) == (400, fault)
    assert client.get("/v1/pets").json == [rex]


@of_one_engine
def test_a_correction_is_not_deprecated_and_goes_on_after_the_removal_of_get_pet(
    client: FlaskClient, rex: dict, clock: Clock
):
    for instant in (clock.now_ms, REMOVAL_MS):
        clock.set_ms(instant)
        answer = correct(client, rex, name="Max")
        assert answer.status_code == 200
        assert not {*answer.headers.keys()} & {"Deprecation", "Sunset", "Link"}
