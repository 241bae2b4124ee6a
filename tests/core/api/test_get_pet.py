"""getPet: GET /v1/pets/{petId} (specification section 4.3)."""

from flask.testing import FlaskClient

from petstore import clock as service_clock
from tests.core.api.conftest import REX
from tests.harness.answers import error_of
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

DEPRECATED = {
    "Deprecation": "@1764892800",
    "Sunset": "Thu, 05 Dec 2030 00:00:00 GMT",
    "Link": '</v1/pets>; rel="successor-version", '
    '</docs#getPet>; rel="deprecation"; type="text/html"',
}
REMOVAL_MS = service_clock.instant_ms(2030, 12, 5)


def test_pet_is_fetched_by_its_id(client: FlaskClient, rex: dict):
    answer = client.get(f"/v1/pets/{rex['id']}")
    assert (answer.status_code, answer.json) == (200, rex)


@of_one_engine
def test_get_pet_is_deprecated_and_gone_from_its_removal_date(
    client: FlaskClient, rex: dict, clock: Clock
):
    path = f"/v1/pets/{rex['id']}"
    clock.set_ms(REMOVAL_MS - 1)
    assert client.get(path).status_code == 200
    assert client.get("/v1/pets/0").status_code == 404
    clock.set_ms(REMOVAL_MS)
    assert error_of(client.get(path)) == (410, "operation_removed")
    for pet_id in (rex["id"], 0):
        headers = client.get(f"/v1/pets/{pet_id}").headers
        assert DEPRECATED.items() <= dict(headers).items()


@of_one_engine
def test_patch_and_delete_are_not_deprecated_and_go_on(
    client: FlaskClient, rex: dict, clock: Clock
):
    clock.set_ms(REMOVAL_MS)
    for method, status in (("PATCH", 200), ("DELETE", 204)):
        answer = client.open(f"/v1/pets/{rex['id']}", method=method, json=REX)
        assert answer.status_code == status
        assert not DEPRECATED.keys() & {*answer.headers.keys()}
