"""getCategory: GET /v1/categories/{categoryId} (decisions on categories)."""

from flask.testing import FlaskClient

from tests.harness.answers import NOT_FOUND, error_of

CATEGORIES = "/v1/categories"


def test_a_category_is_fetched_by_its_id(client: FlaskClient, rex: dict):
    client.put(f"{CATEGORIES}/0", json={"name": "Dogs"})
    for category in ({"id": 0, "name": "Dogs"}, {"id": 7, "name": None}):
        answer = client.get(f"{CATEGORIES}/{category['id']}")
        assert (answer.status_code, answer.json) == (200, category)


def test_an_unknown_category_is_not_found(
    client: FlaskClient, rival_client: FlaskClient, rex: dict
):
    for caller, category_id in ((client, 8), (rival_client, 7)):
        answer = caller.get(f"{CATEGORIES}/{category_id}")
        assert error_of(answer) == NOT_FOUND
        assert answer.json["message"] == f"There is no category {category_id}."
