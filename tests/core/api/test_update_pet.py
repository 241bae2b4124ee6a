"""updatePet: PATCH /v1/pets/{petId} (decisions on animals)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.harness.answers import error_of

MIA = {"name": "Mia", "categoryId": 8}


def correct(client: FlaskClient, pet: dict, **changes: object) -> TestResponse:
    return client.patch(f"/v1/pets/{pet['id']}", json=changes)


@pytest.mark.parametrize(
    "changes", [{"name": "Max"}, {"categoryId": 8}, {"status": "sold"}, MIA]
)
def test_what_is_given_is_corrected_and_the_rest_stays(
    client: FlaskClient, rex: dict, changes: dict
):
    other = client.post("/v1/pets", json=MIA | {"status": "pending"}).json
    answer = correct(client, rex, **changes)
    assert (answer.status_code, answer.json) == (200, rex | changes)
    assert correct(client, other, name="Max").json == other | {"name": "Max"}
    assert client.get("/v1/pets").json == [answer.json, other | {"name": "Max"}]


@pytest.mark.parametrize("status", ["available", "sold"])
def test_an_animal_with_an_open_order_has_its_status_from_that_order(
    client: FlaskClient, rex: dict, order: dict, status: str
):
    answer = correct(client, rex, name="Max", status=status)
    assert error_of(answer) == (409, "pet_not_available")
    assert answer.json["message"] == (
        f"The animal {rex['id']} has the open order {order['id']}: "
        "complete or cancel it first."
    )
    changes = MIA | {"status": "pending"}
    assert correct(client, rex, **changes).json == rex | changes


def test_a_new_category_comes_into_being_and_another_keeps_its_name(
    client: FlaskClient, rex: dict
):
    client.put("/v1/categories/8", json={"name": "Cats"})
    for category_id in (8, 99):
        correct(client, rex, categoryId=category_id)
    cats, new = {"id": 8, "name": "Cats"}, {"id": 99, "name": None}
    assert client.get("/v1/categories").json == [{"id": 7, "name": None}, cats, new]
