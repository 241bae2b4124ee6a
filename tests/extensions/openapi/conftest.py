"""The OpenAPI document and its operations."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from petstore import create_app
from petstore.settings import read_settings
from tests.harness.services import Service, serving

# No number of generated requests bans the key.
SETTINGS = {"PETSTORE_BAN_AFTER": "1000000", "WEB_CONCURRENCY": "1"}
METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture
def service(sqlite_url: str, tmp_path: Path) -> Iterator[Service]:
    """The service under gunicorn."""
    with serving(tmp_path, {"DATABASE_URL": sqlite_url} | SETTINGS) as service:
        yield service


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A client of one app for all tests that only read: pages and the document.

    Neither needs a key or a database.
    """
    database = tmp_path_factory.mktemp("openapi") / "unused.db"
    app = create_app(read_settings({"DATABASE_URL": f"sqlite:///{database}"}))
    return app.test_client()


@pytest.fixture(scope="session")
def description(reader: FlaskClient) -> dict:
    """The parsed /openapi.json."""
    return reader.get("/openapi.json").json


@pytest.fixture(scope="session")
def operations(description: dict) -> dict[str, dict]:
    """The operations by operationId, each with its method and path."""
    return {
        operation["operationId"]: operation | {"method": method, "path": path}
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }
