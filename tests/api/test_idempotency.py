"""Idempotency-Key: a retried POST gets the stored response again."""

from collections.abc import Callable
from unittest.mock import Mock

import peewee
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore import clock as service_clock
from petstore.models.keys import Key
from petstore.models.orders import OrderTable
from petstore.models.pets import PetTable
from petstore.models.projects import Project
from petstore.models.replies import SWEPT_AT_ONCE, Reply
from tests.clocks import Clock

REX = {"name": "Rex", "categoryId": 7}
TOM = {"name": "Tom", "categoryId": 8}
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
    assert PetTable.select().count() == 1


def test_only_a_replay_has_the_idempotent_replayed_header(client: FlaskClient):
    first, second = post(client, "a"), post(client, "a")
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"


def test_a_replay_counts_against_the_quota(client: FlaskClient):
    post(client, "a")
    assert post(client, "a").headers["X-RateLimit-Remaining"] == "998"


def test_each_post_without_a_key_creates_a_pet(client: FlaskClient):
    ids = {client.post("/v1/pets", json=REX).json["id"] for _ in range(2)}
    assert len(ids) == 2


def test_different_keys_create_different_pets(client: FlaskClient):
    ids = {post(client, key).json["id"] for key in ("a", "b", "A")}
    assert len(ids) == 3


@pytest.mark.parametrize("name", ["a", "~", '"', "a" * 255, PRINTABLE])
def test_key_may_be_up_to_255_visible_ascii_characters(client: FlaskClient, name: str):
    assert post(client, name).status_code == 201
    assert post(client, name).headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize("name", ["a", "a" * 255, 'a"b', "''"])
def test_quoted_key_equals_the_unquoted_key(client: FlaskClient, name: str):
    first, second = post(client, name), post(client, f'"{name}"')
    assert second.headers["Idempotent-Replayed"] == "true"
    assert second.data == first.data


@pytest.mark.parametrize(
    "name",
    ["", '""', "a" * 256, f'"{"a" * 256}"', "a b", '" "', "a\tb", "ä", "\x7f", "\x01"],
)
def test_malformed_key_is_refused(client: FlaskClient, name: str):
    environ = {"HTTP_IDEMPOTENCY_KEY": name}
    answer = client.post("/v1/pets", json=REX, environ_overrides=environ)
    assert answer.status_code == 400
    assert answer.json["code"] == "invalid_request"
    assert answer.json["message"].startswith("Idempotency-Key: ")
    assert not PetTable.select().exists()


@pytest.mark.parametrize("body", [TOM, REX | {"status": "available"}, {}, [], None])
def test_reused_key_with_another_body_is_refused(client: FlaskClient, body: object):
    first = post(client, "a")
    answer = post(client, "a", body)
    assert answer.status_code == 422
    assert answer.json["code"] == "idempotency_key_reused"
    assert post(client, "a").data == first.data
    assert PetTable.select().count() == 1


def test_another_project_may_use_the_same_key(
    client: FlaskClient, rival_client: FlaskClient
):
    ours, theirs = post(client, "a"), post(rival_client, "a", TOM)
    assert theirs.status_code == 201
    assert theirs.json["id"] != ours.json["id"]
    assert post(rival_client, "a", TOM).data == theirs.data


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


def test_order_is_replayed(client: FlaskClient):
    body = {"petId": post(client, "a").json["id"]}
    first, second = (post(client, "a", body, "/v1/store/orders") for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.data == first.data
    assert OrderTable.select().count() == 1


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


def test_key_can_be_reused_after_24_hours(client: FlaskClient, clock: Clock):
    first = post(client, "a")
    clock.move(days=1, seconds=0.001)
    second = post(client, "a", TOM)
    assert second.status_code == 201
    assert second.json["id"] != first.json["id"]
    assert post(client, "a", TOM).data == second.data


def test_expired_responses_are_swept_in_batches(client: FlaskClient, clock: Clock):
    for number in range(SWEPT_AT_ONCE + 5):
        post(client, f"old-{number}")
    clock.move(days=1, seconds=1)
    post(client, "new")
    assert Reply.select().count() == 5 + 1
    post(client, "newer")
    assert {reply.key for reply in Reply.select()} == {"new", "newer"}


def test_failed_sweep_writes_nothing(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as outage:
        outage.setattr(Reply, "sweep", Mock(side_effect=peewee.OperationalError))
        assert post(client, "a").status_code == 503
    assert client.get("/v1/pets").json == []


def test_sweep_keeps_unexpired_responses(client: FlaskClient, clock: Clock):
    post(client, "old")
    clock.move(days=1)
    post(client, "new")
    assert Reply.select().count() == 2


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("days", [-2, 2])
def test_expiry_follows_the_clock_of_the_database(
    client: FlaskClient, clock: Clock, monkeypatch: pytest.MonkeyPatch, days: int
):
    first = post(client, "a")
    wrong_ms = clock.now_ms + days * service_clock.MS_PER_DAY
    monkeypatch.setattr(service_clock, "now_ms", lambda: wrong_ms)
    post(client, "b")  # also sweeps expired responses
    assert post(client, "a").data == first.data
    clock.move(days=1, seconds=1)
    assert post(client, "b").headers.get("Idempotent-Replayed") is None
