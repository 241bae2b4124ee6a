"""The OpenAPI document and its operations."""

import pytest
from flask.testing import FlaskClient

METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture
def description(stranger: FlaskClient) -> dict:
    """The parsed /openapi.json, which needs no key."""
    return stranger.get("/openapi.json").json


@pytest.fixture
def operations(description: dict) -> dict[str, dict]:
    """The operations by operationId, each with its method and path."""
    return {
        operation["operationId"]: operation | {"method": method, "path": path}
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }
