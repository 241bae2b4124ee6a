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
from petstore.models.requests import uses
from petstore.models.stored_responses import Attempt
from petstore.storage import db
from tests.api.conftest import REX
from tests.harness.answers import errors_of
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

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


def require_failures(
    client: FlaskClient, status: int, code: str, operations: dict, **options: object
) -> None:
    """Check the status and code with which each operation is refused."""

    def send(name: str) -> object:
        method, path, body = operations[name]
        return client.open(path, method=method, **{"json": body} | options)

    assert errors_of(send, operations) == dict.fromkeys(operations, (status, code))


@of_one_engine
def test_requests_at_fault_are_refused(
    stranger: FlaskClient, client: FlaskClient, client_of: Callable, project: Project
):
    paths = stranger.get("/openapi.json").json["paths"].values()
    described = {each["operationId"] for path in paths for each in path.values()}
    assert described == OPERATIONS.keys()
    page = client_of(Key.issue(project, Grant(PUBLIC, 99, 99, ("https://a.example",))))
    other_origin = {"headers": {"Origin": "https://b.example"}}
    for caller, status, code, operations, options in (
        (stranger, 401, "missing_api_key", OPERATIONS, {}),
        (client_of("pet_x"), 401, "invalid_api_key", OPERATIONS, {}),
        (page, 403, "key_not_allowed", OPERATIONS, other_origin),
        (client, 400, "invalid_request", OPERATIONS, {"query_string": "unknown=1"}),
        (client, 413, "body_too_large", BODIES, {"json": {"name": "x" * 65536}}),
        (client, 415, "unsupported_media_type", BODIES, {"content_type": "text/plain"}),
    ):
        require_failures(caller, status, code, operations, **options)
    uses.flush()
    db.execute_sql("ALTER TABLE api_key RENAME TO lost")
    require_failures(client, 500, "internal_error", OPERATIONS)


@of_one_engine
class TestOverTheLimit:
    @pytest.fixture
    def environ(self, environ: dict[str, str], host_settings: dict) -> dict[str, str]:
        return environ | host_settings | {"PETSTORE_BAN_AFTER": "1"}

    def test_requests_are_refused_and_a_second_later_the_key_is_banned(
        self, client: FlaskClient, project: Project, clock: Clock
    ):
        nobody = {"base_url": "http://nobody.example"}
        require_failures(client, 421, "unknown_host", OPERATIONS, **nobody)
        here = {"base_url": "http://pets.example.net"}
        project.change_plan(Plan("enterprise", 1, 9))
        client.get("/v1/pets", **here)
        for code in ("rate_limit_exceeded", "api_key_banned"):
            require_failures(client, 429, code, OPERATIONS, **here)
            clock.move(seconds=1)


class TestWithoutDatabase:
    @pytest.fixture
    def environ(self) -> dict[str, str]:
        return {"DATABASE_URL": "postgresql://127.0.0.1:1/none"}

    def test_a_database_that_is_away_is_a_503(self, client_of: Callable):
        client = client_of(new_key())
        require_failures(client, 503, "service_unavailable", OPERATIONS)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_an_idempotency_key_whose_first_request_is_running_is_refused(
    set_limits: Callable, client: FlaskClient, project: Project, database_url: str
):
    set_limits(replay_lock_seconds=0.1)
    again = {"headers": {"Idempotency-Key": "a"}}
    with closing(psycopg.connect(database_url)) as first:
        for _, path, _ in KEYED.values():
            lock_id = Attempt(project.id, path, "a", b"").lock_id
            first.execute("SELECT pg_advisory_xact_lock(%s)", (lock_id,))
        require_failures(client, 409, "idempotency_key_in_use", KEYED, **again)
