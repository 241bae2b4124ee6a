"""listCategories: GET /v1/categories (decisions on categories); see test_lists.py."""

from flask.testing import FlaskClient

CATEGORIES = "/v1/categories"


def test_new_pet_creates_its_category_without_a_name(client: FlaskClient):
    for category_id in (7, 0, 7):
        client.post("/v1/pets", json={"name": "Rex", "categoryId": category_id})
    assert client.get(CATEGORIES).json == [
        {"id": 0, "name": None},
        {"id": 7, "name": None},
    ]


def test_refused_pet_creates_no_category(client: FlaskClient):
    client.post("/v1/pets", json={"name": "", "categoryId": 7})
    assert client.get(CATEGORIES).json == []


def test_new_pet_keeps_the_name_of_its_category(client: FlaskClient):
    client.put(f"{CATEGORIES}/7", json={"name": "Dogs"})
    client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
    assert client.get(CATEGORIES).json == [{"id": 7, "name": "Dogs"}]
