"""getPet: GET /v1/pets/{petId} (specification section 4.3)."""

from flask.testing import FlaskClient

from petstore import clock as service_clock
from tests.harness.answers import NOT_FOUND, error_of, seen
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

SUNSET = "Thu, 05 Dec 2030 00:00:00 GMT"
REMOVAL_MS = service_clock.instant_ms(2030, 12, 5)


def test_pet_is_fetched_by_its_id(client: FlaskClient, rex: dict):
    answer = client.get(f"/v1/pets/{rex['id']}")
    assert answer.status_code == 200
    assert answer.json == rex


def test_pet_of_another_project_looks_like_a_missing_one(
    rival_client: FlaskClient, rex: dict
):
    foreign, missing = (rival_client.get(f"/v1/pets/{rex['id'] + n}") for n in (0, 1))
    assert error_of(foreign) == NOT_FOUND
    assert seen(foreign) == seen(missing)
    assert foreign.headers["Sunset"] == SUNSET


@of_one_engine
def test_response_announces_the_deprecation_and_sunset(client: FlaskClient, rex: dict):
    headers = client.get(f"/v1/pets/{rex['id']}").headers
    assert headers["Deprecation"] == "@1764892800"
    assert headers["Sunset"] == SUNSET
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
