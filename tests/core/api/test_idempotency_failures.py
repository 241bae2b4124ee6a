"""Idempotency-Key: responses that are not stored, and keys that are in use."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import psycopg
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from petstore.models.stored_responses import Attempt, StoredResponse
from petstore.storage.engine import Busy
from tests.harness.answers import error_of
from tests.harness.clients import ORDERS, PETS
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

REX = b'{"name": "Rex", "categoryId": 7}'
JSON = "application/json"


def post(
    client: FlaskClient, body: bytes = REX, content_type: str = JSON, path: str = PETS
) -> TestResponse:
    headers = {"Idempotency-Key": "a"}
    return client.post(path, data=body, content_type=content_type, headers=headers)


def fail_with(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@of_one_engine
def test_refused_request_is_not_stored_and_may_be_corrected_with_the_same_key(
    client: FlaskClient, stranger: FlaskClient, project: Project, clock: Clock
):
    assert post(stranger).status_code == 401
    for status, body, content_type, path in (
        (400, b'{"name": "Rex"}', JSON, PETS),
        (413, b'"' + b"x" * 65536 + b'"', JSON, PETS),
        (415, REX, "text/plain", PETS),
        (400, b'{"petId": 1}', JSON, ORDERS),  # since there is none
    ):
        assert post(client, body, content_type, path).status_code == status
    project.change_plan(Plan("enterprise", 4, 10))
    assert post(client).status_code == 429
    assert not StoredResponse.select().exists()
    clock.move(seconds=60)
    assert post(client).status_code == 201
    assert post(client, b'{"petId": 1}', path=ORDERS).status_code == 201
    assert post(stranger).status_code == 401


@pytest.mark.parametrize(
    ("owner", "name", "error", "status"),
    [
        (Pet, "add", RuntimeError("bug"), 500),
        (StoredResponse, "keep", Busy("locked"), 503),
    ],
)
def test_pet_and_its_response_are_stored_together_or_not_at_all(
    client: FlaskClient,
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    name: str,
    error: Exception,
    status: int,
):
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, fail_with(error))
        assert post(client).status_code == status
    assert client.get(PETS).json == []
    assert post(client).status_code == 201


def test_lock_of_something_else_does_not_say_that_the_key_is_in_use(
    locked_data: Callable[[str], AbstractContextManager[None]], client: FlaskClient
):
    with locked_data("reply"):
        answer = post(client)
    assert error_of(answer) == (503, "service_unavailable")
    assert post(client).status_code == 201


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_concurrent_retry_is_refused_until_the_first_request_rolls_back(
    set_limits: Callable[..., None],
    client: FlaskClient,
    project: Project,
    database_url: str,
):
    set_limits(replay_lock_seconds=0.1)
    lock_id = Attempt(project.id, PETS, "a", b"").lock_id
    with psycopg.connect(database_url) as first:
        first.execute("SELECT pg_advisory_xact_lock(%s)", (lock_id,))
        answer = post(client)
        assert error_of(answer) == (409, "idempotency_key_in_use")
        assert answer.headers["Retry-After"] == "1"
        first.rollback()
        first.execute("SELECT * FROM project FOR UPDATE")  # which is another lock
        assert post(client).status_code == 503
        first.rollback()
    assert client.get(PETS).json == []
    assert post(client).status_code == 201
