"""Failures that every operation describes, each caused for every operation.

`make marks` compares what is described with what these tests and all others caused.
"""

from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest
from flask.testing import FlaskClient

from petstore.models.credentials import new_key
from petstore.models.grants import PUBLIC, Grant
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.models.stored_responses import Attempt
from petstore.storage import db
from tests.harness.answers import errors_of
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

REX = {"name": "Rex", "categoryId": 7}
READS = {
    "listPets": ("GET", "/v1/pets", None),
    "getPet": ("GET", "/v1/pets/1", None),
    "listOrders": ("GET", "/v1/store/orders", None),
    "getOrder": ("GET", "/v1/store/orders/1", None),
    "listCategories": ("GET", "/v1/categories", None),
}
KEYED = {
    "createPet": ("POST", "/v1/pets", REX),
    "updatePet": ("PATCH", "/v1/pets/1", {"name": "Max"}),
    "createOrder": ("POST", "/v1/store/orders", {"petId": 1}),
    "updateOrder": ("PATCH", "/v1/store/orders/1", {"status": "completed"}),
}
BODIES = KEYED | {"putCategory": ("PUT", "/v1/categories/7", {"name": "Dogs"})}
DELETIONS = {
    "deletePet": ("DELETE", "/v1/pets/1", None),
    "deleteOrder": ("DELETE", "/v1/store/orders/1", None),
    "deleteCategory": ("DELETE", "/v1/categories/7", None),
}
OPERATIONS = READS | BODIES | DELETIONS


def failures(client: FlaskClient, operations: dict, **options: object) -> dict:
    """Return the status and code with which each operation is refused."""

    def send(name: str) -> object:
        method, path, body = operations[name]
        return client.open(path, method=method, **{"json": body} | options)

    return errors_of(send, operations)


@of_one_engine
def test_all_operations_are_here(stranger: FlaskClient):
    paths = stranger.get("/openapi.json").json["paths"].values()
    described = {each["operationId"] for path in paths for each in path.values()}
    assert described == OPERATIONS.keys()


@of_one_engine
@pytest.mark.parametrize(
    ("authorization", "code"),
    [(None, "missing_api_key"), ("Bearer pet_x", "invalid_api_key")],
)
def test_a_key_is_needed(stranger: FlaskClient, authorization: str | None, code: str):
    headers = {"Authorization": authorization} if authorization else {}
    found = failures(stranger, OPERATIONS, headers=headers)
    assert found == dict.fromkeys(OPERATIONS, (401, code))


@of_one_engine
def test_a_key_for_pages_is_refused_to_those_of_another_origin(
    client_of: Callable, project: Project
):
    page = client_of(Key.issue(project, Grant(PUBLIC, 99, 99, ("https://a.example",))))
    found = failures(page, OPERATIONS, headers={"Origin": "https://b.example"})
    assert found == dict.fromkeys(OPERATIONS, (403, "key_not_allowed"))


@of_one_engine
def test_unknown_parameters_are_refused(client: FlaskClient):
    found = failures(client, OPERATIONS, query_string="unknown=1")
    assert found == dict.fromkeys(OPERATIONS, (400, "invalid_request"))


@of_one_engine
def test_a_body_over_64_kib_is_refused(client: FlaskClient):
    found = failures(client, BODIES, json={"name": "x" * 65536})
    assert found == dict.fromkeys(BODIES, (413, "body_too_large"))


@of_one_engine
def test_a_body_of_another_type_is_refused(client: FlaskClient):
    found = failures(client, BODIES, content_type="text/plain")
    assert found == dict.fromkeys(BODIES, (415, "unsupported_media_type"))


@of_one_engine
class TestOverTheLimit:
    @pytest.fixture
    def environ(self, environ: dict[str, str]) -> dict[str, str]:
        return environ | {"PETSTORE_BAN_AFTER": "1"}

    def test_requests_are_refused_and_a_second_later_the_key_is_banned(
        self, client: FlaskClient, project: Project, clock: Clock
    ):
        project.change_plan(Plan("enterprise", 1, 9))
        client.get("/v1/pets")
        for code in ("rate_limit_exceeded", "api_key_banned"):
            found = failures(client, OPERATIONS)
            assert found == dict.fromkeys(OPERATIONS, (429, code))
            clock.move(seconds=1)


@of_one_engine
class TestHosts:
    @pytest.fixture
    def environ(self, environ: dict[str, str], host_settings: dict) -> dict[str, str]:
        return environ | host_settings

    def test_hosts_of_nobody_are_refused(self, client: FlaskClient):
        found = failures(client, OPERATIONS, base_url="http://nobody.example")
        assert found == dict.fromkeys(OPERATIONS, (421, "unknown_host"))


@of_one_engine
def test_what_the_database_refuses_is_a_bug(client: FlaskClient):
    db.execute_sql("ALTER TABLE api_key RENAME TO lost")
    found = failures(client, OPERATIONS)
    assert found == dict.fromkeys(OPERATIONS, (500, "internal_error"))


class TestWithoutDatabase:
    @pytest.fixture
    def environ(self) -> dict[str, str]:
        return {"DATABASE_URL": "postgresql://127.0.0.1:1/none"}

    def test_a_database_that_is_away_is_a_503(self, client_of: Callable):
        found = failures(client_of(new_key()), OPERATIONS)
        assert found == dict.fromkeys(OPERATIONS, (503, "service_unavailable"))


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_an_idempotency_key_whose_first_request_is_running_is_refused(
    set_limits: Callable, client: FlaskClient, project: Project, database_url: str
):
    set_limits(replay_lock_seconds=0.1)
    with closing(psycopg.connect(database_url)) as first:
        for _, path, _ in KEYED.values():
            lock_id = Attempt(project.id, path, "a", b"").lock_id
            first.execute("SELECT pg_advisory_xact_lock(%s)", (lock_id,))
        found = failures(client, KEYED, headers={"Idempotency-Key": "a"})
    assert found == dict.fromkeys(KEYED, (409, "idempotency_key_in_use"))
