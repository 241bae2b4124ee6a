"""deleteCategory: DELETE /v1/categories/{categoryId} (decisions on categories)."""

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.harness.answers import NOT_FOUND, error_of

CATEGORIES = "/v1/categories"


def delete(client: FlaskClient, category_id: int) -> TestResponse:
    return client.delete(f"{CATEGORIES}/{category_id}")


def test_a_category_without_animals_is_deleted(client: FlaskClient):
    for category_id in (0, 7):
        client.put(f"{CATEGORIES}/{category_id}", json={"name": "Dogs"})
    answer = delete(client, 0)
    assert (answer.status_code, answer.data) == (204, b"")
    assert client.get(CATEGORIES).json == [{"id": 7, "name": "Dogs"}]


def test_a_category_of_animals_is_not_deleted(client: FlaskClient, rex: dict):
    answer = delete(client, 7)
    assert error_of(answer) == (409, "category_in_use")
    expected = "Animals have the category 7: give them another category first."
    assert answer.json["message"] == expected
    client.patch(f"/v1/pets/{rex['id']}", json={"categoryId": 8})
    assert delete(client, 7).status_code == 204


def test_category_of_another_project_looks_like_a_missing_one(
    client: FlaskClient, rival_client: FlaskClient
):
    client.put(f"{CATEGORIES}/7", json={"name": "Dogs"})
    answers = [delete(rival_client, 7), delete(client, 8), delete(client, 2**63 - 1)]
    assert {error_of(answer) for answer in answers} == {NOT_FOUND}
    assert client.get(CATEGORIES).json == [{"id": 7, "name": "Dogs"}]
