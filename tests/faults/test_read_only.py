"""Tests for connections that were opened while the disk was read-only."""

import pytest
from flask.testing import FlaskClient

from petstore.storage import counters, db

PETS = "/v1/pets"
REX = {"name": "Rex", "categoryId": 7}


@pytest.fixture
def environ(sqlite_url: str) -> dict[str, str]:
    return {"DATABASE_URL": sqlite_url}


def be_read_only(database: object) -> None:
    """Make the connection behave as if it was opened on a read-only disk."""
    database.execute_sql("PRAGMA query_only = 1")


def test_write_on_read_only_connection_fails_only_once(client: FlaskClient):
    be_read_only(db)
    refused = client.post(PETS, json=REX)
    assert (refused.status_code, refused.json["code"]) == (503, "service_unavailable")
    assert refused.headers["Retry-After"] == "1"
    assert client.post(PETS, json=REX).status_code == 201


def test_read_only_counters_are_reopened(
    client: FlaskClient, capfd: pytest.CaptureFixture
):
    be_read_only(counters)
    assert client.get(PETS).status_code == 200
    assert "counters_lost" in capfd.readouterr().out
    client.get("/readyz")
    assert counters.execute_sql("PRAGMA query_only").fetchone() == (0,)
