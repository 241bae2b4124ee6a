"""Idempotency-Key: a retried POST or PATCH gets the stored response again."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore import clock as service_clock
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.upkeep import housekeeping
from tests.core.api.conftest import REX
from tests.harness.answers import INVALID, errors_of
from tests.harness.clients import ORDERS, PETS
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

TOM = {"name": "Tom", "categoryId": 8}
REUSED = (422, "idempotency_key_reused")
PRINTABLE = "".join(map(chr, range(ord("!"), ord("~") + 1)))


def post(
    client: FlaskClient,
    key: str,
    body: object = REX,
    path: str = PETS,
    method: str = "POST",
) -> TestResponse:
    headers = {"Idempotency-Key": key}
    return client.open(path, method=method, json=body, headers=headers)


def test_retry_gets_the_stored_response(
    client: FlaskClient, project: Project, client_of: Callable[[str], FlaskClient]
):
    first, second = post(client, "a"), post(client_of(Key.issue(project)), "a")
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.data == first.data
    assert second.headers["Location"] == first.headers["Location"]
    assert second.content_type == "application/json"
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert second.headers["X-RateLimit-Remaining"] == "998"
    assert client.get(PETS).json == [first.json]


@of_one_engine
def test_key_has_up_to_255_visible_ascii_characters_quoted_or_not(client: FlaskClient):
    for name in ("~", '"', 'a"', "a" * 255, PRINTABLE, 'a"b', "''"):
        first, second = post(client, name), post(client, f'"{name}"')
        assert first.status_code == 201
        assert second.headers["Idempotent-Replayed"] == "true"
        assert second.data == first.data


@of_one_engine
def test_malformed_key_is_refused(client: FlaskClient):
    def send(name: str) -> TestResponse:
        environ = {"HTTP_IDEMPOTENCY_KEY": name}
        answer = client.post(PETS, json=REX, environ_overrides=environ)
        assert answer.json["message"].startswith("Idempotency-Key: ")
        return answer

    names = ["", '""', "a" * 256, f'"{"a" * 256}"', "a b", '" "', "a\tb", "ä"]
    names += ["\x7f", "\x01"]
    assert errors_of(send, names) == dict.fromkeys(names, INVALID)
    assert client.get(PETS).json == []


def test_reused_key_with_another_body_is_refused(client: FlaskClient):
    first = post(client, "a")
    for body in (TOM, REX | {"status": "available"}, {}, None):
        answer = post(client, "a", body)
        assert (answer.status_code, answer.json["code"]) == REUSED
    assert post(client, "a").data == first.data
    assert client.get(PETS).json == [first.json]


def test_each_key_replays_its_own_response_to_its_project_and_path(
    client: FlaskClient, rival_client: FlaskClient
):
    requests = [
        *((client, key, REX, PETS) for key in ("a", "b", "A")),
        (rival_client, "a", TOM, PETS),
        (client, "a", {"petId": 1}, ORDERS),
        (client, "b", {"petId": 3}, ORDERS),
        *(
            (client, "a", {"reference": "O"}, f"{ORDERS}/{id}", "PATCH")
            for id in (1, 2)
        ),
        *((client, "a", {"name": "Max"}, f"{PETS}/{id}", "PATCH") for id in (2, 3)),
    ]
    first = [post(*request) for request in requests]
    assert {answer.status_code for answer in first} == {200, 201}
    answers = [answer.data for answer in first]
    assert len(set(answers)) == len(answers)
    client.patch(f"{PETS}/2", json={"name": "Moritz"})
    assert [post(*request).data for request in requests] == answers
    assert client.get(f"{PETS}/2").json["name"] == "Moritz"


def test_conflict_response_is_stored_and_replayed(client: FlaskClient, order: dict):
    body = {"petId": order["petId"]}
    refused = post(client, "a", body, ORDERS)
    client.patch(f"{ORDERS}/{order['id']}", json={"status": "cancelled"})
    again = post(client, "a", body, ORDERS)
    assert (refused.status_code, again.status_code) == (409, 409)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.data == refused.data
    assert post(client, "b", body, ORDERS).status_code == 201


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
    housekeeping.delete_outdated()
    assert post(client, "a").data == first.data
    clock.move(days=1, seconds=1)
    assert post(client, "b").headers.get("Idempotent-Replayed") is None
