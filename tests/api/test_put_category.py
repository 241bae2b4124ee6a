"""putCategory: PUT /v1/categories/{categoryId} (decisions on categories)."""

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

CATEGORIES = "/v1/categories"
JSON = {"Content-Type": "application/json"}
# Rejected before the handler uses the database, so one engine is enough.
of_one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def put(client: FlaskClient, category_id: object, name: object) -> TestResponse:
    return client.put(f"{CATEGORIES}/{category_id}", json={"name": name})


@pytest.mark.parametrize("category_id", [0, 7, 2**31, 2**53 + 1, 2**63 - 1])
def test_put_creates_the_category(client: FlaskClient, category_id: int):
    answer = put(client, category_id, "Dogs")
    assert answer.status_code == 201
    assert answer.json == {"id": category_id, "name": "Dogs"}
    assert client.get(CATEGORIES).json == [answer.json]


def test_put_renames_the_category(client: FlaskClient):
    put(client, 7, "Dogs")
    put(client, 8, "Cats")
    answer = put(client, 7, "Hounds")
    assert (answer.status_code, answer.json) == (200, {"id": 7, "name": "Hounds"})
    assert client.get(CATEGORIES).json == [answer.json, {"id": 8, "name": "Cats"}]


@pytest.mark.parametrize("category_id", [0, 7, 2**63 - 1])
def test_put_names_a_category_that_a_pet_created(client: FlaskClient, category_id: int):
    pet = {"name": "Rex", "categoryId": category_id}
    pet = client.post("/v1/pets", json=pet).json
    answer = put(client, category_id, "Dogs")
    assert answer.status_code == 200
    assert client.get(CATEGORIES).json == [{"id": category_id, "name": "Dogs"}]
    assert client.get(f"/v1/pets/{pet['id']}").json == pet


def test_null_removes_the_name(client: FlaskClient):
    put(client, 7, "Dogs")
    answer = put(client, 7, None)
    assert (answer.status_code, answer.json) == (200, {"id": 7, "name": None})
    assert client.get(CATEGORIES).json == [answer.json]


def test_null_creates_a_category_without_a_name(client: FlaskClient):
    answer = put(client, 7, None)
    assert (answer.status_code, answer.json) == (201, {"id": 7, "name": None})
    assert client.get(CATEGORIES).json == [answer.json]


def test_repeated_put_changes_nothing(client: FlaskClient):
    statuses = [put(client, 7, "Dogs").status_code for _ in range(3)]
    assert statuses == [201, 200, 200]
    assert client.get(CATEGORIES).json == [{"id": 7, "name": "Dogs"}]


def test_two_categories_may_share_a_name(client: FlaskClient):
    assert [put(client, each, "Dogs").status_code for each in (7, 8)] == [201, 201]


def test_category_of_another_project_looks_like_a_missing_one(
    client: FlaskClient, rival_client: FlaskClient
):
    put(client, 8, "Hounds")
    missing, foreign = (put(rival_client, each, "Cats") for each in (7, 8))
    assert (missing.status_code, foreign.status_code) == (201, 201)
    assert set(missing.headers.keys()) == set(foreign.headers.keys())
    assert client.get(CATEGORIES).json == [{"id": 8, "name": "Hounds"}]


def test_each_project_has_its_own_category_names(
    client: FlaskClient, rival_client: FlaskClient
):
    for each, name in [(client, "Dogs"), (rival_client, "Cats"), (client, "Hounds")]:
        put(each, 7, name)
    assert client.get(CATEGORIES).json == [{"id": 7, "name": "Hounds"}]
    assert rival_client.get(CATEGORIES).json == [{"id": 7, "name": "Cats"}]


@pytest.mark.parametrize(
    "name",
    [
        *["D", "D" * 200, "🐶" * 200, "  Dogs  ", "\u3000D", "Ünïcødé 狗 🐶"],
        *["e\u0301", "\u200b", "\ufeff", "\U0010ffff", "null", "'; --", "%s", "\\"],
    ],
)
def test_a_name_is_kept_exactly_as_sent(client: FlaskClient, name: str):
    assert put(client, 7, name).json == {"id": 7, "name": name}
    assert client.get(CATEGORIES).json == [{"id": 7, "name": name}]


@of_one_engine
@pytest.mark.parametrize(
    "name",
    [
        *["", " ", "\u00a0\u3000", "\u2028", "D" * 201, "\u0000", "D\u0000", "D\ns"],
        *["\tD", "D\u007f", "D\u0085s", "Dogs\n", 7, 7.5, True, ["Dogs"], {"a": 1}],
    ],
)
def test_invalid_name_is_refused_and_changes_nothing(client: FlaskClient, name: object):
    put(client, 7, "Dogs")
    for category_id in (7, 8):
        answer = put(client, category_id, name)
        assert (answer.status_code, answer.json["code"]) == (400, "invalid_request")
        assert answer.json["message"].startswith("name: must ")
    assert client.get(CATEGORIES).json == [{"id": 7, "name": "Dogs"}]


@of_one_engine
@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("{}", "name: is required"),
        ('{"name": "Dogs", "id": 7}', "id: is not known here"),
        ('{"name": "Dogs", "name": "Cats"}', "name: stands twice"),
        ('{"Name": "Dogs"}', "Name: is not known here"),
        ('"Dogs"', "body: must be a JSON object"),
        ("null", "body: must be a JSON object"),
        (
            r'{"name": "\ud800"}',
            "body: must be JSON in UTF-8, with numbers up to 1.8e308",
        ),
        ('{"name": "Dogs}', "body: must be JSON in UTF-8, with numbers up to 1.8e308"),
        ("", "body: must be JSON in UTF-8, with numbers up to 1.8e308"),
    ],
)
def test_invalid_body_is_refused_with_a_reason(
    client: FlaskClient, body: str, fault: str
):
    answer = client.put(f"{CATEGORIES}/7", data=body, headers=JSON)
    assert (answer.status_code, answer.json["code"]) == (400, "invalid_request")
    assert fault in answer.json["message"].split("; ")
    assert client.get(CATEGORIES).json == []


@of_one_engine
@pytest.mark.parametrize(
    "category_id",
    [str(2**63), "9" * 400, "01", "-1", "+1", "7.0", "7e0", "x", "٧", "7/", "", " 7"],
)
def test_invalid_category_id_is_not_found(client: FlaskClient, category_id: str):
    answer = put(client, category_id, "Dogs")
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")
    assert client.get(CATEGORIES).json == []


def test_other_methods_are_not_allowed(client: FlaskClient):
    for method in ("GET", "POST", "PATCH", "DELETE"):
        answer = client.open(f"{CATEGORIES}/7", method=method)
        assert answer.status_code == 405
        assert answer.headers["Allow"] == "OPTIONS, PUT"
