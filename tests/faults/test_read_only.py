"""A disk that was read-only for a while: connections made meanwhile are no use."""

import pytest
from flask.testing import FlaskClient

from petstore.database import counters, data

PETS = "/v1/pets"
REX = {"name": "Rex", "categoryId": 7}


@pytest.fixture
def environ(sqlite_url: str) -> dict[str, str]:
    return {"DATABASE_URL": sqlite_url}


def be_read_only(database: object) -> None:
    """As a connection is that was opened on a read-only disk."""
    database.execute_sql("PRAGMA query_only = 1")


def test_a_write_is_refused_and_the_next_one_goes_through(client: FlaskClient):
    be_read_only(data)
    refused = client.post(PETS, json=REX)
    assert (refused.status_code, refused.json["code"]) == (503, "service_unavailable")
    assert refused.headers["Retry-After"] == "1"
    assert client.post(PETS, json=REX).status_code == 201


def test_a_list_is_read_all_the_while(client: FlaskClient):
    client.post(PETS, json=REX)
    be_read_only(data)
    be_read_only(counters)
    assert len(client.get(PETS).json) == 1


def test_counters_are_opened_anew(client: FlaskClient, capfd: pytest.CaptureFixture):
    be_read_only(counters)
    assert client.get(PETS).status_code == 200
    assert "counters_lost" in capfd.readouterr().out
    client.get("/readyz")
    assert counters.execute_sql("PRAGMA query_only").fetchone() == (0,)
