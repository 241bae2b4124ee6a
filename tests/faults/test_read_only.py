"""Tests for connections that were opened while the disk was read-only."""

import pytest
from flask.testing import FlaskClient

from petstore.storage import db

PETS = "/v1/pets"
REX = {"name": "Rex", "categoryId": 7}


@pytest.fixture
def environ(sqlite_url: str) -> dict[str, str]:
    return {"DATABASE_URL": sqlite_url}


def test_write_on_read_only_connection_fails_only_once(client: FlaskClient):
    # As if the connection was opened on a read-only disk.
    db.execute_sql("PRAGMA query_only = 1")
    refused = client.post(PETS, json=REX)
    assert (refused.status_code, refused.json["code"]) == (503, "service_unavailable")
    assert refused.headers["Retry-After"] == "1"
    assert client.post(PETS, json=REX).status_code == 201
