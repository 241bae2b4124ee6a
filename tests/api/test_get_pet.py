"""getPet: GET /v1/pets/{petId} (specification section 4.3)."""

import pytest
from flask.testing import FlaskClient

from petstore import clock as service_clock
from tests.harness.answers import error_of
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

REMOVAL_MS = service_clock.instant_ms(2030, 12, 5)
METHODS = ("GET", "HEAD")


@pytest.fixture
def rex(client: FlaskClient) -> dict:
    return client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json


def test_pet_is_fetched_by_its_id(client: FlaskClient, rex: dict):
    answer = client.get(f"/v1/pets/{rex['id']}")
    assert answer.status_code == 200
    assert answer.json == rex


def test_pet_of_another_project_is_not_found(rival_client: FlaskClient, rex: dict):
    answer = rival_client.get(f"/v1/pets/{rex['id']}")
    assert answer.status_code == 404
    assert answer.json["code"] == "not_found"


@of_one_engine
def test_response_announces_the_deprecation_and_sunset(client: FlaskClient, rex: dict):
    headers = client.get(f"/v1/pets/{rex['id']}").headers
    assert headers["Deprecation"] == "@1764892800"
    assert headers["Sunset"] == "Thu, 05 Dec 2030 00:00:00 GMT"
    assert '</v1/pets>; rel="successor-version"' in headers["Link"]
    assert 'rel="deprecation"' in headers["Link"]


@of_one_engine
def test_get_pet_is_gone_from_its_removal_date(
    client: FlaskClient, rex: dict, clock: Clock
):
    clock.set_ms(REMOVAL_MS - 1)
    assert client.get(f"/v1/pets/{rex['id']}").status_code == 200
    clock.set_ms(REMOVAL_MS)
    answer = client.get(f"/v1/pets/{rex['id']}")
    assert error_of(answer) == (410, "operation_removed")
    assert '</v1/pets>; rel="successor-version"' in answer.headers["Link"]


def test_not_found_response_announces_the_sunset(client: FlaskClient):
    answer = client.get("/v1/pets/1")
    assert error_of(answer) == (404, "not_found")
    assert answer.headers["Sunset"] == "Thu, 05 Dec 2030 00:00:00 GMT"


@of_one_engine
def test_head_answers_like_get_without_the_body(client: FlaskClient, rex: dict):
    got, head = (client.open(f"/v1/pets/{rex['id']}", method=m) for m in METHODS)
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Content-Length"] == got.headers["Content-Length"]
    assert head.headers["Deprecation"] == got.headers["Deprecation"]
