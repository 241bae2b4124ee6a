"""getPet: GET /v1/pets/{petId} (specification section 4.3)."""

import pytest
from flask.testing import FlaskClient

from petstore import clock as service_clock
from tests.answers import error_of
from tests.clocks import Clock

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


@pytest.mark.parametrize(
    "pet_id", ["0", "01", "+1", "-1", "1.0", "1e0", "x", "9223372036854775808", "١"]
)
def test_invalid_or_unknown_pet_id_is_not_found(
    client: FlaskClient, rex: dict, pet_id: str
):
    answer = client.get(f"/v1/pets/{pet_id}")
    assert answer.status_code == 404
    assert set(answer.json) == {"code", "message", "status"}


def test_response_announces_the_deprecation_and_sunset(client: FlaskClient, rex: dict):
    headers = client.get(f"/v1/pets/{rex['id']}").headers
    assert headers["Deprecation"] == "@1764892800"
    assert headers["Sunset"] == "Thu, 05 Dec 2030 00:00:00 GMT"
    assert '</v1/pets>; rel="successor-version"' in headers["Link"]
    assert 'rel="deprecation"' in headers["Link"]


def test_get_pet_is_served_until_its_removal_date(
    client: FlaskClient, rex: dict, clock: Clock
):
    clock.set_ms(REMOVAL_MS - 1)
    assert client.get(f"/v1/pets/{rex['id']}").status_code == 200


def test_get_pet_is_gone_from_its_removal_date(
    client: FlaskClient, rex: dict, clock: Clock
):
    clock.set_ms(REMOVAL_MS)
    answer = client.get(f"/v1/pets/{rex['id']}")
    assert answer.status_code == 410
    assert answer.json["code"] == "operation_removed"
    assert answer.headers["X-RateLimit-Remaining"] == "999"


def test_not_found_response_announces_the_sunset(client: FlaskClient):
    answer = client.get("/v1/pets/1")
    assert answer.status_code == 404
    assert answer.headers["Sunset"] == "Thu, 05 Dec 2030 00:00:00 GMT"


def test_removed_operation_links_to_its_successor(client: FlaskClient, clock: Clock):
    clock.set_ms(REMOVAL_MS)
    answer = client.get("/v1/pets/1")
    assert error_of(answer) == (410, "operation_removed")
    assert '</v1/pets>; rel="successor-version"' in answer.headers["Link"]


def test_head_answers_like_get_without_the_body(client: FlaskClient, rex: dict):
    got, asked = (client.open(f"/v1/pets/{rex['id']}", method=m) for m in METHODS)
    assert (asked.status_code, asked.data) == (200, b"")
    assert asked.headers["Content-Length"] == got.headers["Content-Length"]
    assert asked.headers["Deprecation"] == got.headers["Deprecation"]
