"""listCategories: GET /v1/categories (decisions on categories)."""

import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from petstore.models.categories import Category
from petstore.models.projects import Project

CATEGORIES = "/v1/categories"
INT64_MAX = 2**63 - 1
LIMIT = "limit: must be an integer from 1 to 100"
AFTER = f"after: must be an integer from 0 to {INT64_MAX}"
# Rejected before the handler uses the database, so one engine is enough.
of_one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def add_categories(project: Project, *ids: int) -> None:
    for category_id in ids:
        Category.rename(project.id, category_id, f"No. {category_id}")


def ids(categories: list[dict]) -> list[int]:
    return [category["id"] for category in categories]


def pages(client: FlaskClient, address: str) -> Iterator[list[int]]:
    """Yield the ids on each page, following the links from the address."""
    while address:
        answer = client.get(address)
        assert answer.status_code == 200
        yield ids(answer.json)
        link = re.fullmatch(
            r'<http://localhost(/.+)>; rel="next"', answer.headers.get("Link", "")
        )
        assert bool(link) == ("Link" in answer.headers)
        address = link and link[1]


def test_a_project_without_categories_has_an_empty_list(client: FlaskClient):
    answer = client.get(CATEGORIES)
    assert (answer.status_code, answer.json) == (200, [])
    assert "Link" not in answer.headers


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


def test_order_changes_no_category(client: FlaskClient):
    pet = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    before = client.get(CATEGORIES).json
    client.post("/v1/store/orders", json={"petId": pet["id"]})
    assert client.get(CATEGORIES).json == before


def test_categories_of_another_project_are_not_listed(
    client: FlaskClient, project: Project, rival: Project
):
    add_categories(rival, 0, 1, 2, 3, INT64_MAX)
    add_categories(project, 2, 4)
    assert list(pages(client, f"{CATEGORIES}?limit=1")) == [[2], [4]]
    assert client.get(CATEGORIES).json[0] == {"id": 2, "name": "No. 2"}


def test_limit_defaults_to_20(client: FlaskClient, project: Project):
    add_categories(project, *range(101))
    assert ids(client.get(CATEGORIES).json) == list(range(20))
    assert ids(client.get(f"{CATEGORIES}?limit=1").json) == [0]
    assert ids(client.get(f"{CATEGORIES}?limit=100").json) == list(range(100))


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6])
def test_next_links_visit_each_category_once(
    client: FlaskClient, project: Project, limit: int
):
    expected = [0, 1, 5, 2**53 + 1, INT64_MAX - 1, INT64_MAX]
    add_categories(project, *reversed(expected))
    walked = list(pages(client, f"{CATEGORIES}?limit={limit}"))
    assert [each for page in walked for each in page] == expected
    assert {len(page) for page in walked[:-1]} <= {limit}


def test_the_link_keeps_the_limit(client: FlaskClient, project: Project):
    add_categories(project, 0, 1)
    answer = client.get(f"{CATEGORIES}?limit=1")
    address = f"http://localhost{CATEGORIES}?limit=1&after=0"
    assert answer.headers["Link"] == f'<{address}>; rel="next"'


@pytest.mark.parametrize(
    ("after", "expected"),
    [(0, [5, INT64_MAX]), (4, [5, INT64_MAX]), (5, [INT64_MAX]), (INT64_MAX, [])],
)
def test_list_continues_after_any_id(
    client: FlaskClient, project: Project, after: int, expected: list[int]
):
    add_categories(project, 0, 5, INT64_MAX)
    assert ids(client.get(f"{CATEGORIES}?after={after}").json) == expected


@of_one_engine
@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("limit=0", LIMIT),
        ("limit=101", LIMIT),
        ("limit=x", LIMIT),
        ("after=-1", AFTER),
        ("after=", AFTER),
        (f"after={2**63}", AFTER),
        ("after=1&after=1", "after: must not be repeated"),
        ("status=placed", "status: is not known here"),
        ("name=Dogs", "name: is not known here"),
    ],
)
def test_invalid_parameter_is_named_in_the_message(
    client: FlaskClient, query: str, fault: str
):
    answer = client.get(f"{CATEGORIES}?{query}")
    assert (answer.status_code, answer.json["code"]) == (400, "invalid_request")
    assert answer.json["message"] == fault


def test_head_answers_like_get_without_the_body(client: FlaskClient, project: Project):
    add_categories(project, 0, 1)
    head = client.head(f"{CATEGORIES}?limit=1")
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Link"] == client.get(f"{CATEGORIES}?limit=1").headers["Link"]


def test_post_is_not_allowed(client: FlaskClient):
    answer = client.post(CATEGORIES, json={"name": "Dogs"})
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"
