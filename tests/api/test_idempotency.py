"""Idempotency-Key: a retried POST gets the stored response again."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore import clock as service_clock
from petstore.models.keys import Key
from petstore.models.pets import PetTable
from petstore.models.projects import Project
from petstore.upkeep import housekeeping
from tests.harness.answers import INVALID, errors_of
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

REX = {"name": "Rex", "categoryId": 7}
TOM = {"name": "Tom", "categoryId": 8}
REUSED = (422, "idempotency_key_reused")
PRINTABLE = "".join(map(chr, range(ord("!"), ord("~") + 1)))


def post(
    client: FlaskClient, key: str, body: object = REX, path: str = "/v1/pets"
) -> TestResponse:
    return client.post(path, json=body, headers={"Idempotency-Key": key})


def test_retry_gets_the_stored_response(client: FlaskClient):
    first, second = post(client, "a"), post(client, "a")
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.data == first.data
    assert second.headers["Location"] == first.headers["Location"]
    assert second.content_type == "application/json"
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert second.headers["X-RateLimit-Remaining"] == "998"
    assert PetTable.select().count() == 1


@of_one_engine
@pytest.mark.parametrize("name", ["~", '"', "a" * 255, PRINTABLE])
def test_key_may_be_up_to_255_visible_ascii_characters(client: FlaskClient, name: str):
    assert post(client, name).status_code == 201
    assert post(client, name).headers["Idempotent-Replayed"] == "true"


@of_one_engine
@pytest.mark.parametrize("name", ["a", "a" * 255, 'a"b', "''"])
def test_quoted_key_equals_the_unquoted_key(client: FlaskClient, name: str):
    first, second = post(client, name), post(client, f'"{name}"')
    assert second.headers["Idempotent-Replayed"] == "true"
    assert second.data == first.data


@of_one_engine
def test_malformed_key_is_refused(client: FlaskClient):
    def send(name: str) -> TestResponse:
        environ = {"HTTP_IDEMPOTENCY_KEY": name}
        answer = client.post("/v1/pets", json=REX, environ_overrides=environ)
        assert answer.json["message"].startswith("Idempotency-Key: ")
        return answer

    names = ["", '""', "a" * 256, f'"{"a" * 256}"', "a b", '" "', "a\tb", "ä"]
    names += ["\x7f", "\x01"]
    assert errors_of(send, names) == dict.fromkeys(names, INVALID)
    assert not PetTable.select().exists()


def test_reused_key_with_another_body_is_refused(client: FlaskClient):
    first = post(client, "a")
    for body in (TOM, REX | {"status": "available"}, {}, None):
        answer = post(client, "a", body)
        assert (answer.status_code, answer.json["code"]) == REUSED
    assert post(client, "a").data == first.data
    assert PetTable.select().count() == 1


def test_another_project_may_use_the_same_key(
    client: FlaskClient, rival_client: FlaskClient
):
    ours, theirs = post(client, "a"), post(rival_client, "a", TOM)
    assert theirs.status_code == 201
    assert theirs.json["id"] != ours.json["id"]
    assert post(rival_client, "a", TOM).data == theirs.data
    assert post(client, "a").data == ours.data


def test_retry_with_another_api_key_of_the_project_is_replayed(
    client: FlaskClient, project: Project, client_of: Callable[[str], FlaskClient]
):
    colleague = client_of(Key.issue(project))
    assert post(colleague, "a").data == post(client, "a").data
    assert PetTable.select().count() == 1


def test_another_path_may_use_the_same_key(client: FlaskClient):
    pet = post(client, "a").json
    order = post(client, "a", {"petId": pet["id"]}, "/v1/store/orders")
    assert order.status_code == 201
    assert order.json["petId"] == pet["id"]
    assert post(client, "a").json == pet


def test_each_key_replays_its_own_response(client: FlaskClient):
    answers = {key: post(client, key).data for key in ("a", "b", "A")}
    assert len(set(answers.values())) == 3
    assert {key: post(client, key).data for key in answers} == answers


def test_conflict_response_is_stored_and_replayed(client: FlaskClient):
    pet_id = post(client, "a").json["id"]
    body, orders = {"petId": pet_id}, "/v1/store/orders"
    order = post(client, "first", body, orders).json
    refused = post(client, "second", body, orders)
    client.patch(f"{orders}/{order['id']}", json={"status": "cancelled"})
    again = post(client, "second", body, orders)
    assert (refused.status_code, again.status_code) == (409, 409)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.data == refused.data
    assert post(client, "third", body, orders).status_code == 201


def test_stored_response_is_replayed_for_24_hours(client: FlaskClient, clock: Clock):
    first = post(client, "a")
    clock.move(days=1)
    assert post(client, "a").data == first.data
    clock.move(seconds=0.001)
    second = post(client, "a", TOM)
    assert second.status_code == 201
    assert second.json["id"] != first.json["id"]
    assert post(client, "a", TOM).data == second.data


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("days", [-2, 2])
def test_expiry_follows_the_clock_of_the_database(
    client: FlaskClient, clock: Clock, monkeypatch: pytest.MonkeyPatch, days: int
):
    first = post(client, "a")
    wrong_ms = clock.now_ms + days * service_clock.MS_PER_DAY
    monkeypatch.setattr(service_clock, "now_ms", lambda: wrong_ms)
    post(client, "b")
    housekeeping.tidy()
    assert post(client, "a").data == first.data
    clock.move(days=1, seconds=1)
    assert post(client, "b").headers.get("Idempotent-Replayed") is None
