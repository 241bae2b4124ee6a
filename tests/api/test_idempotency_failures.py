"""Idempotency-Key: responses that are not stored, and keys that are in use."""

from collections.abc import Callable

import psycopg
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore.models.pets import Pet, PetTable
from petstore.models.projects import Plan, Project
from petstore.models.stored_responses import Attempt, StoredResponse
from petstore.storage import db
from petstore.storage.engine import Busy
from tests.harness.answers import error_of
from tests.harness.broken_disks import unreadable
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

REX = b'{"name": "Rex", "categoryId": 7}'
JSON = "application/json"


def post(
    client: FlaskClient, body: bytes = REX, content_type: str = JSON
) -> TestResponse:
    headers = {"Idempotency-Key": "a"}
    return client.post(
        "/v1/pets", data=body, content_type=content_type, headers=headers
    )


def fail_with(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@of_one_engine
@pytest.mark.parametrize(
    ("status", "body", "content_type"),
    [
        (400, b'{"name": "Rex"}', JSON),
        (413, b'"' + b"x" * 65536 + b'"', JSON),
        (415, REX, "text/plain"),
    ],
)
def test_refused_request_may_be_corrected_with_the_same_key(
    client: FlaskClient, status: int, body: bytes, content_type: str
):
    assert post(client, body, content_type).status_code == status
    assert not StoredResponse.select().exists()
    assert post(client).status_code == 201


def test_refused_order_for_an_unknown_pet_is_not_stored(client: FlaskClient):
    headers = {"Idempotency-Key": "a"}
    for _ in range(2):
        answer = client.post("/v1/store/orders", json={"petId": 5}, headers=headers)
        assert answer.status_code == 400
        assert "Idempotent-Replayed" not in answer.headers
    assert not StoredResponse.select().exists()


@of_one_engine
def test_request_without_an_api_key_gets_no_stored_response(
    client: FlaskClient, stranger: FlaskClient
):
    assert post(stranger).status_code == 401
    assert post(client).status_code == 201
    assert post(stranger).status_code == 401


@of_one_engine
def test_a_429_is_not_stored(client: FlaskClient, project: Project, clock: Clock):
    project.change_plan(Plan("enterprise", 1, 10))
    client.get("/v1/pets")
    assert post(client).status_code == 429
    clock.move(seconds=60)
    assert post(client).status_code == 201


@of_one_engine
def test_a_500_is_not_stored(client: FlaskClient, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr(Pet, "add", fail_with(RuntimeError("bug")))
        assert post(client).status_code == 500
    assert post(client).status_code == 201


def test_pet_is_not_created_if_its_response_cannot_be_stored(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setattr(StoredResponse, "keep", fail_with(Busy("locked")))
        assert post(client).status_code == 503
    assert not PetTable.select().exists()
    assert post(client).status_code == 201


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
class TestKeyInUse:
    """PostgreSQL only: on SQLite, a retry waits until the first transaction ends."""

    @pytest.fixture
    def first(self, project: Project, database_url: str) -> psycopg.Connection:
        """A connection whose open transaction has claimed the key."""
        attempt = Attempt(project.id, "/v1/pets", "a", b"")
        with psycopg.connect(database_url) as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (attempt.lock_id,))
            yield connection
            connection.rollback()

    @pytest.fixture(autouse=True)
    def short_wait(self, set_limits: Callable[..., None]) -> None:
        set_limits(replay_lock_seconds=0.1)

    def test_concurrent_retry_gets_409_until_the_first_request_rolls_back(
        self, client: FlaskClient, first: psycopg.Connection
    ):
        answer = post(client)
        assert error_of(answer) == (409, "idempotency_key_in_use")
        assert answer.headers["Retry-After"] == "1"
        assert not PetTable.select().exists()
        first.rollback()
        assert post(client).status_code == 201

    def test_new_key_gets_503_if_another_transaction_holds_a_lock(
        self, client: FlaskClient, database_url: str
    ):
        with psycopg.connect(database_url) as other:
            other.execute("SELECT * FROM project FOR UPDATE")
            assert post(client).status_code == 503
            other.rollback()
        assert post(client).status_code == 201


@of_one_engine
def test_transaction_that_sqlite_has_rolled_back_is_a_503(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
):
    add = Pet.add

    def add_on_a_broken_disk(*arguments: object, **members: object) -> Pet:
        with unreadable(db.file):
            return add(*arguments, **members)

    with monkeypatch.context() as patch:
        patch.setattr(Pet, "add", add_on_a_broken_disk)
        assert error_of(post(client))[:2] == (503, "service_unavailable")
    assert post(client).status_code == 201
    assert PetTable.select().count() == StoredResponse.select().count() == 1
