"""What a key may do by its role: read what is public, read, write, or everything."""

import re
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.grants import PUBLIC, READ, Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.answers import NOT_FOUND, error_of

REX = {"name": "Rex", "categoryId": 7}
NOT_ALLOWED = (403, "key_not_allowed")
WRITES = [
    ("POST", "/v1/pets"),
    ("PATCH", "/v1/pets/999"),
    ("DELETE", "/v1/pets/999"),
    ("POST", "/v1/store/orders"),
    ("PATCH", "/v1/store/orders/999"),
    ("PUT", "/v1/categories/7"),
]


READS = ["/v1/pets", "/v1/pets/1", "/v1/categories"]
ORDERS = ["/v1/store/orders", "/v1/store/orders/1"]


@pytest.fixture
def page(client_of: Callable, project: Project) -> FlaskClient:
    """A client with a key for a web page."""
    return client_of(Key.issue(project, Grant(PUBLIC, 100, 100)))


@pytest.fixture
def reader(client_of: Callable, project: Project) -> FlaskClient:
    """A client with a key that may only read."""
    return client_of(Key.issue(project, Grant(READ)))


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize(
    "options",
    [
        {"json": REX},
        {"data": b"{", "content_type": "text/plain"},
        {"json": REX, "headers": {"Idempotency-Key": "not valid"}},
        {"query_string": "unknown=1"},
    ],
)
def test_a_read_key_writes_nothing_and_its_body_is_not_looked_at(
    reader: FlaskClient, method: str, path: str, options: dict
):
    refused = reader.open(path, method=method, **options)
    assert error_of(refused) == NOT_ALLOWED
    assert refused.json["message"] == (
        "This key may only read. This takes a key that may write."
    )
    for items in ("pets", "store/orders", "categories"):
        assert reader.get(f"/v1/{items}").json == []


def test_what_a_key_may_not_do_is_counted_first(reader: FlaskClient):
    left = [
        int(answer.headers["X-RateLimit-Remaining"])
        for answer in (reader.get("/v1/pets"), reader.post("/v1/pets"))
    ]
    assert left[1] == left[0] - 1


@pytest.mark.usefixtures("order")
@pytest.mark.parametrize("path", [*READS, *ORDERS])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_read_key_reads_and_a_public_one_no_orders(
    reader: FlaskClient, page: FlaskClient, method: str, path: str
):
    assert reader.open(path, method=method).status_code == 200
    status = 200 if path in READS else 403
    assert page.open(path, method=method).status_code == status


def test_a_public_key_is_told_what_it_may_do(page: FlaskClient):
    may = "This key may only read animals and categories."
    for path in ORDERS:
        refused = page.get(path).json["message"]
        assert refused == f"{may} This takes a key that may read orders."
    refused = page.post("/v1/pets", json=REX).json["message"]
    assert refused == f"{may} This takes a key that may write."


def test_what_is_no_operation_is_refused_to_every_key_alike(reader: FlaskClient):
    assert error_of(reader.post("/v1/cats")) == NOT_FOUND
    assert error_of(reader.delete("/v1/pets")) == (405, "method_not_allowed")
    assert reader.options("/v1/pets").status_code == 204


def test_a_read_key_gets_no_stored_response(client: FlaskClient, reader: FlaskClient):
    retry = {"json": REX, "headers": {"Idempotency-Key": "1"}}
    assert client.post("/v1/pets", **retry).status_code == 201
    assert error_of(reader.post("/v1/pets", **retry)) == NOT_ALLOWED
    assert client.post("/v1/pets", **retry).headers["Idempotent-Replayed"] == "true"


def test_a_successor_may_do_what_the_key_before_may(
    client_of: Callable, project: Project
):
    key = Key.issue(project, Grant(READ))
    successor = Key.by_prefix(key[:16]).rotate(60)
    assert error_of(client_of(successor).post("/v1/pets", json=REX)) == NOT_ALLOWED


def test_the_description_says_which_keys_may_call_an_operation(stranger: FlaskClient):
    paths = stranger.get("/openapi.json").json["paths"]
    for path, operations in paths.items():
        for method, operation in operations.items():
            taken = {"get": "read orders" if "orders" in path else None}
            told = re.findall(
                "This takes a key that may (.*?)\\.", operation["description"]
            )
            assert [*told, None][0] == taken.get(method, "write")
