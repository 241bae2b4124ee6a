"""deletePet: DELETE /v1/pets/{petId} (decisions on animals)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore import clock as service_clock
from petstore.models.projects import Plan, Project
from tests.harness.answers import (
    INVALID,
    NOT_FOUND,
    RATE_LIMIT_HEADERS,
    error_of,
    seen,
)
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

ORDERS = "/v1/store/orders"
MIA = {"name": "Mia", "categoryId": 7}
REMOVAL_MS = service_clock.instant_ms(2030, 12, 5)


def withdraw(client: FlaskClient, pet: dict, **options: object) -> TestResponse:
    return client.delete(f"/v1/pets/{pet['id']}", **options)


def test_a_withdrawn_animal_is_gone_and_the_others_stay(client: FlaskClient, rex: dict):
    mia = client.post("/v1/pets", json=MIA).json
    answer = withdraw(client, rex)
    assert (answer.status_code, answer.data) == (204, b"")
    assert not {*answer.headers.keys()} & {"Content-Type", "Content-Length"}
    assert {*answer.headers.keys()} >= RATE_LIMIT_HEADERS
    assert client.get("/v1/pets").json == [mia]


def test_whatever_is_asked_of_a_withdrawn_animal_is_not_found(
    client: FlaskClient, rex: dict
):
    path = f"/v1/pets/{rex['id']}"
    withdraw(client, rex)
    answers = [client.get(path), client.patch(path, json=MIA), withdraw(client, rex)]
    assert {error_of(answer) for answer in answers} == {NOT_FOUND}
    ordered = client.post(ORDERS, json={"petId": rex["id"]})
    assert error_of(ordered) == INVALID
    assert ordered.json["message"] == "petId: no animal with this id"


@pytest.mark.parametrize("status", ["pending", "sold"])
def test_an_animal_of_any_status_without_an_open_order_is_withdrawn(
    client: FlaskClient, status: str
):
    pet = client.post("/v1/pets", json=MIA | {"status": status}).json
    assert withdraw(client, pet).status_code == 204
    assert client.get("/v1/pets").json == []


def test_orders_of_a_withdrawn_animal_stay_and_keep_its_id(
    client: FlaskClient, rex: dict, order: dict
):
    path = f"{ORDERS}/{order['id']}"
    refused = withdraw(client, rex)
    assert error_of(refused) == (409, "pet_not_available")
    assert f"has the open order {order['id']}: complete or" in refused.json["message"]
    closed = client.patch(path, json={"status": "cancelled"}).json
    assert withdraw(client, rex).status_code == 204
    assert client.get(ORDERS).json == [closed]
    assert client.get(path).json == closed
    assert closed["petId"] == rex["id"]
    closing = client.patch(path, json={"status": "completed"})
    assert error_of(closing) == (409, "order_closed")


def test_the_id_of_a_withdrawn_animal_is_not_given_again(
    client: FlaskClient, rex: dict
):
    ids = {rex["id"]}
    for _ in range(3):
        withdraw(client, {"id": max(ids)})
        ids.add(client.post("/v1/pets", json=MIA).json["id"])
    assert len(ids) == 4


def test_a_reader_goes_on_after_the_id_of_a_withdrawn_animal(
    client: FlaskClient, rex: dict
):
    mia = client.post("/v1/pets", json=MIA).json
    withdraw(client, rex)
    assert client.get(f"/v1/pets?after={rex['id']}").json == [mia]


def test_pet_of_another_project_looks_like_a_missing_one(
    client: FlaskClient, rival_client: FlaskClient, rex: dict
):
    ids = (rex["id"], rex["id"] + 1, 0, 2**63 - 1)
    answers = [withdraw(rival_client, {"id": each}) for each in ids]
    assert {error_of(answer) for answer in answers} == {NOT_FOUND}
    assert seen(answers[0]) == seen(answers[1])
    assert client.get("/v1/pets").json == [rex]


def test_a_full_project_has_room_again_after_a_withdrawal(
    client: FlaskClient, project: Project, rex: dict
):
    project.change_plan(Plan("enterprise", 10**6, 10**6, 2))
    assert error_of(client.post("/v1/pets", json=MIA)) == (409, "project_full")
    withdraw(client, rex)
    assert client.post("/v1/pets", json=MIA).status_code == 201


@of_one_engine
def test_idempotency_key_and_body_are_ignored_but_parameters_are_refused(
    client: FlaskClient, rex: dict
):
    named = {"headers": {"Idempotency-Key": "not valid"}, "data": b"{"}
    assert error_of(withdraw(client, rex, query_string="force=1")) == INVALID
    assert withdraw(client, rex, **named).status_code == 204
    assert error_of(withdraw(client, rex, **named)) == NOT_FOUND


@of_one_engine
def test_a_withdrawal_is_not_deprecated_and_goes_on_after_the_removal_of_get_pet(
    client: FlaskClient, rex: dict, clock: Clock
):
    mia = client.post("/v1/pets", json=MIA).json
    for pet, instant in ((rex, clock.now_ms), (mia, REMOVAL_MS)):
        clock.set_ms(instant)
        answer = withdraw(client, pet)
        assert answer.status_code == 204
        assert not {*answer.headers.keys()} & {"Deprecation", "Sunset", "Link"}
