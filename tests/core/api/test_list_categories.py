"""listCategories: GET /v1/categories (decisions on categories); see test_lists.py."""

from flask.testing import FlaskClient

CATEGORIES = "/v1/categories"


def test_a_category_comes_into_being_with_its_first_animal_and_keeps_its_name(
    client: FlaskClient,
):
    client.put(f"{CATEGORIES}/8", json={"name": "Dogs"})
    for category_id, name in ((7, "Rex"), (0, "Rex"), (7, "Rex"), (8, "Rex"), (9, "")):
        client.post("/v1/pets", json={"name": name, "categoryId": category_id})
    without_name = [{"id": category_id, "name": None} for category_id in (0, 7)]
    assert client.get(CATEGORIES).json == [*without_name, {"id": 8, "name": "Dogs"}]
