"""putCategory: PUT /v1/categories/{categoryId} (decisions on categories)."""

import pytest
from flask.testing import FlaskClient

CATEGORIES = "/v1/categories"


@pytest.mark.parametrize("category_id", [0, 2**63 - 1])
def test_put_creates_names_and_renames_a_category(
    client: FlaskClient, rival_client: FlaskClient, category_id: int
):
    path = f"{CATEGORIES}/{category_id}"
    rival_client.put(path, json={"name": "Cats"})
    for name, status in (("Dogs", 201), ("Hounds", 200), (None, 200), ("Dogs", 200)):
        answer = client.put(path, json={"name": name})
        named = {"id": category_id, "name": name}
        assert (answer.status_code, answer.json) == (status, named)
        assert client.get(CATEGORIES).json == [named]
    assert rival_client.get(CATEGORIES).json == [{"id": category_id, "name": "Cats"}]


@pytest.mark.parametrize("name", ["Dogs", None])
def test_put_takes_a_category_that_a_pet_created_and_one_without_a_name(
    client: FlaskClient, rex: dict, name: str | None
):
    answers = [client.put(f"{CATEGORIES}/{n}", json={"name": name}) for n in (7, 8)]
    assert [answer.status_code for answer in answers] == [200, 201]
    assert client.get(CATEGORIES).json == [{"id": n, "name": name} for n in (7, 8)]
    assert client.get("/v1/pets").json == [rex]
