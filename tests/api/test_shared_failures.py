"""Failures that every operation describes, each caused for every operation."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.credentials import new_key
from tests.api.conftest import REX
from tests.harness.answers import errors_of
from tests.harness.databases import of_one_engine

BODIES = {
    "createPet": ("POST", "/v1/pets", REX),
    "updatePet": ("PATCH", "/v1/pets/1", {"name": "Max"}),
    "createOrder": ("POST", "/v1/store/orders", {"petId": 1}),
    "updateOrder": ("PATCH", "/v1/store/orders/1", {"status": "completed"}),
    "putCategory": ("PUT", "/v1/categories/7", {"name": "Dogs"}),
}
OPERATIONS = BODIES | {
    "listPets": ("GET", "/v1/pets", None),
    "getPet": ("GET", "/v1/pets/1", None),
    "listOrders": ("GET", "/v1/store/orders", None),
    "getOrder": ("GET", "/v1/store/orders/1", None),
    "listCategories": ("GET", "/v1/categories", None),
    "getCategory": ("GET", "/v1/categories/7", None),
    "deletePet": ("DELETE", "/v1/pets/1", None),
    "deleteOrder": ("DELETE", "/v1/store/orders/1", None),
    "deleteCategory": ("DELETE", "/v1/categories/7", None),
}


def require_failures(
    client: FlaskClient, status: int, code: str, operations: dict, **options: object
) -> None:
    """Check the status and code with which each operation is refused."""

    def send(name: str) -> object:
        method, path, body = operations[name]
        return client.open(path, method=method, **{"json": body} | options)

    assert errors_of(send, operations) == dict.fromkeys(operations, (status, code))


@of_one_engine
def test_requests_at_fault_are_refused(stranger: FlaskClient, client: FlaskClient):
    paths = stranger.get("/openapi.json").json["paths"].values()
    described = {each["operationId"] for path in paths for each in path.values()}
    assert described == OPERATIONS.keys()
    require_failures(stranger, 401, "missing_api_key", OPERATIONS)
    unknown = {"query_string": "unknown=1"}
    require_failures(client, 400, "invalid_request", OPERATIONS, **unknown)
    large = {"json": {"name": "x" * 65536}}
    require_failures(client, 413, "body_too_large", BODIES, **large)
    text = {"content_type": "text/plain"}
    require_failures(client, 415, "unsupported_media_type", BODIES, **text)


class TestWithoutDatabase:
    @pytest.fixture
    def environ(self) -> dict[str, str]:
        return {"DATABASE_URL": "postgresql://127.0.0.1:1/none"}

    def test_a_database_that_is_away_is_a_503(self, client_of: Callable):
        client = client_of(new_key())
        require_failures(client, 503, "service_unavailable", OPERATIONS)
