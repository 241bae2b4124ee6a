"""listOrders: GET /v1/store/orders (decisions on orders)."""

import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from petstore.models.orders import OrderTable
from petstore.models.pets import Pet
from petstore.models.projects import Project

ORDERS = "/v1/store/orders"
STATUSES = ("placed", "completed", "cancelled")
LIMIT = "limit: must be an integer from 1 to 100"
AFTER = f"after: must be an integer from 0 to {2**63 - 1}"
STATUS = "status: must be one of placed, completed, cancelled"
# Rejected before the handler uses the database, so one engine is enough.
of_one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def add_orders(project: Project, *statuses: str) -> list[int]:
    """Insert an order of one pet for each status, and return the ids.

    The rows bypass the rules of the models: one pet may have several open orders.
    """
    pet = Pet.add(project.id, "Rex", 7, "sold")
    return [
        OrderTable.create(
            project=project, pet=pet.id, status=status, created_ms=0, updated_ms=0
        ).id
        for status in statuses
    ]


def ids(orders: list[dict]) -> list[int]:
    return [order["id"] for order in orders]


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


def test_a_project_without_orders_has_an_empty_list(client: FlaskClient):
    answer = client.get(ORDERS)
    assert (answer.status_code, answer.json) == (200, [])
    assert "Link" not in answer.headers


def test_listed_order_equals_the_created_one(client: FlaskClient):
    pet = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    order = client.post(ORDERS, json={"petId": pet["id"]}).json
    assert client.get(ORDERS).json == [order]


def test_orders_of_another_project_are_not_listed(
    client: FlaskClient, project: Project, rival: Project
):
    add_orders(rival, *STATUSES)
    own = add_orders(project, *STATUSES)
    add_orders(rival, *STATUSES)
    assert list(pages(client, f"{ORDERS}?limit=1")) == [[order] for order in own]
    assert ids(client.get(f"{ORDERS}?status=placed").json) == own[:1]


def test_limit_defaults_to_20(client: FlaskClient, project: Project):
    orders = add_orders(project, *["placed"] * 101)
    assert ids(client.get(ORDERS).json) == orders[:20]
    assert ids(client.get(f"{ORDERS}?limit=1").json) == orders[:1]
    assert ids(client.get(f"{ORDERS}?limit=100").json) == orders[:100]


@pytest.mark.parametrize(
    ("limit", "expected"), [(2, [[1, 2], [3, 4], [5]]), (5, [[1, 2, 3, 4, 5]])]
)
def test_next_links_visit_each_order_once(
    client: FlaskClient, project: Project, limit: int, expected: list[list[int]]
):
    add_orders(project, *["placed"] * 5)
    assert list(pages(client, f"{ORDERS}?limit={limit}")) == expected


def test_the_link_keeps_every_other_parameter(client: FlaskClient, project: Project):
    _, second, *_ = add_orders(project, *["placed"] * 3)
    answer = client.get(f"{ORDERS}?status=placed&after=0&limit=2")
    assert answer.headers["Link"] == (
        f'<http://localhost{ORDERS}?status=placed&limit=2&after={second}>; rel="next"'
    )


@pytest.mark.parametrize("status", STATUSES)
def test_status_parameter_filters_the_orders(
    client: FlaskClient, project: Project, status: str
):
    orders = add_orders(project, *STATUSES * 3)
    wanted = orders[STATUSES.index(status) :: 3]
    assert ids(client.get(f"{ORDERS}?status={status}").json) == wanted
    walked = list(pages(client, f"{ORDERS}?status={status}&limit=2"))
    assert walked == [wanted[:2], wanted[2:]]


def test_closed_order_is_listed_under_its_new_status(client: FlaskClient):
    pet = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    order = client.post(ORDERS, json={"petId": pet["id"]}).json
    client.patch(f"{ORDERS}/{order['id']}", json={"status": "cancelled"})
    lists = [client.get(f"{ORDERS}?status={status}").json for status in STATUSES]
    assert [ids(orders) for orders in lists] == [[], [], [order["id"]]]


@pytest.mark.parametrize(
    ("after", "expected"), [(0, [1, 2]), (1, [2]), (2, []), (99, []), (2**63 - 1, [])]
)
def test_list_continues_after_any_id(
    client: FlaskClient, project: Project, after: int, expected: list[int]
):
    add_orders(project, "placed", "placed")
    for query in (f"after={after}", f"after={after}&status=placed"):
        assert ids(client.get(f"{ORDERS}?{query}").json) == expected


@of_one_engine
@pytest.mark.parametrize(
    ("query", "faults"),
    [
        ("limit=0", LIMIT),
        ("limit=101", LIMIT),
        ("limit=", LIMIT),
        ("limit=01", LIMIT),
        ("limit=1.0", LIMIT),
        ("limit=%2B1", LIMIT),
        ("limit=٣", LIMIT),
        ("after=-1", AFTER),
        (f"after={2**63}", AFTER),
        ("after=x", AFTER),
        ("status=", STATUS),
        ("status=sold", STATUS),
        ("status=Placed", STATUS),
        ("petId=1", "petId: is not known here"),
        ("limit=1&limit=1", "limit: must not be repeated"),
        ("status=sold&limit=x", f"{LIMIT}; {STATUS}"),
    ],
)
def test_invalid_parameter_is_named_in_the_message(
    client: FlaskClient, query: str, faults: str
):
    answer = client.get(f"{ORDERS}?{query}")
    assert (answer.status_code, answer.json["code"]) == (400, "invalid_request")
    assert sorted(answer.json["message"].split("; ")) == sorted(faults.split("; "))


@of_one_engine
@pytest.mark.parametrize("path", [f"{ORDERS}/", "/v1//store/orders", "/v1/store"])
def test_similar_path_is_not_found(client: FlaskClient, path: str):
    assert client.get(path).status_code == 404


def test_head_answers_like_get_without_the_body(client: FlaskClient, project: Project):
    add_orders(project, *["placed"] * 3)
    head = client.head(f"{ORDERS}?limit=2")
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Link"] == client.get(f"{ORDERS}?limit=2").headers["Link"]
