"""Failures that every operation describes, each caused for every operation."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from petstore.models.credentials import new_key
from tests.harness.answers import errors_of
from tests.harness.databases import of_one_engine


def described(client: FlaskClient) -> dict[str, tuple[str, str, Any]]:
    """Return the method, a path, and the example of a body of each operation."""
    found = {}
    for path, methods in client.get("/openapi.json").json["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {"content": {"application/json": {}}})
            example = body["content"]["application/json"].get("example")
            of_row = re.sub("{.*}", "1", f"/v1{path}")
            found[operation["operationId"]] = (method, of_row, example)
    return found


def require_failures(
    client: FlaskClient, status: int, code: str, *, of_bodies: bool = False, **sent: Any
) -> None:
    """Check how each operation is refused, or each that takes a body."""

    def send(name: str) -> object:
        method, path, body = operations[name]
        return client.open(path, method=method, **{"json": body} | sent)

    operations = described(client)
    names = [name for name in operations if operations[name][2] or not of_bodies]
    assert len(names) == (5 if of_bodies else 14)
    assert errors_of(send, names) == dict.fromkeys(names, (status, code))


@of_one_engine
def test_requests_at_fault_are_refused(stranger: FlaskClient, client: FlaskClient):
    require_failures(stranger, 401, "missing_api_key")
    require_failures(client, 400, "invalid_request", query_string="unknown=1")
    large = {"json": {"name": "x" * 65536}}
    require_failures(client, 413, "body_too_large", of_bodies=True, **large)
    text = {"content_type": "text/plain"}
    require_failures(client, 415, "unsupported_media_type", of_bodies=True, **text)


class TestWithoutDatabase:
    @pytest.fixture
    def environ(self) -> dict[str, str]:
        return {"DATABASE_URL": "postgresql://127.0.0.1:1/none"}

    def test_a_database_that_is_away_is_a_503(self, client_of: Callable):
        require_failures(client_of(new_key()), 503, "service_unavailable")
