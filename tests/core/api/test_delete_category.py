"""deleteCategory: DELETE /v1/categories/{categoryId} (decisions on categories)."""

from flask.testing import FlaskClient

from tests.harness.answers import NOT_FOUND, error_of

CATEGORIES = "/v1/categories"


def test_a_category_without_animals_is_deleted(client: FlaskClient, rex: dict):
    client.put(f"{CATEGORIES}/0", json={"name": "Dogs"})
    answer = client.delete(f"{CATEGORIES}/0")
    assert (answer.status_code, answer.data) == (204, b"")
    assert error_of(client.delete(f"{CATEGORIES}/0")) == NOT_FOUND
    assert client.get(CATEGORIES).json == [{"id": 7, "name": None}]


def test_a_category_of_animals_is_not_deleted(client: FlaskClient, rex: dict):
    answer = client.delete(f"{CATEGORIES}/7")
    assert error_of(answer) == (409, "category_in_use")
    expected = "Animals have the category 7: give them another category first."
    assert answer.json["message"] == expected
    client.patch(f"/v1/pets/{rex['id']}", json={"categoryId": 8})
    assert client.delete(f"{CATEGORIES}/7").status_code == 204
