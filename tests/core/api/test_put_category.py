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
