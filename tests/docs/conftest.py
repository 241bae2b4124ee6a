"""The description, and what it says of each operation."""

import pytest
from flask.testing import FlaskClient

METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture
def description(stranger: FlaskClient) -> dict:
    """/openapi.json, which needs no key."""
    return stranger.get("/openapi.json").json


@pytest.fixture
def operations(description: dict) -> dict[str, dict]:
    """Each operation by its id, with its method and path."""
    return {
        operation["operationId"]: operation | {"method": method, "path": path}
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }
