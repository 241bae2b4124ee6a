"""What a key may do by its role: read what is public, read, write, or everything."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.grants import PUBLIC, READ, Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.core.api.conftest import REX
from tests.harness.answers import NOT_FOUND, error_of
from tests.harness.databases import of_one_engine

pytestmark = of_one_engine
NOT_ALLOWED = (403, "key_not_allowed")
WRITES = [
    ("POST", "/v1/pets"),
    ("PATCH", "/v1/pets/999"),
    ("DELETE", "/v1/pets/999"),
    ("POST", "/v1/store/orders"),
    ("PATCH", "/v1/store/orders/999"),
    ("DELETE", "/v1/store/orders/999"),
    ("PUT", "/v1/categories/7"),
    ("DELETE", "/v1/categories/7"),
]
READS = ["/v1/pets", "/v1/pets/1", "/v1/categories"]
ORDERS = ["/v1/store/orders", "/v1/store/orders/1"]
ONLY_READS = "This key may only read. This takes a key that may write."
PUBLIC_READS = "This key may only read animals and categories. This takes a key that"


@pytest.fixture
def page(client_of: Callable, project: Project) -> FlaskClient:
    """A client with a key for a web page."""
    return client_of(Key.issue(project, Grant(PUBLIC, 100, 100)))


@pytest.fixture
def reader(client_of: Callable, project: Project) -> FlaskClient:
    """A client whose key was rotated from one that may only read."""
    key = Key.issue(project, Grant(READ))
    return client_of(Key.find_by_prefix(key[:16]).rotate(60))


@pytest.mark.parametrize(
    "options",
    [
        {"json": REX},
        {"data": b"{", "content_type": "text/plain"},
        {"json": REX, "headers": {"Idempotency-Key": "not valid"}},
        {"query_string": "unknown=1"},
    ],
)
def test_a_read_key_writes_nothing_and_is_counted_before_its_body_is_looked_at(
    reader: FlaskClient, options: dict
):
    before = int(reader.get("/v1/pets").headers["X-RateLimit-Remaining"])
    for number, (method, path) in enumerate(WRITES, start=1):
        refused = reader.open(path, method=method, **options)
        assert error_of(refused) == NOT_ALLOWED
        assert refused.json["message"] == ONLY_READS
        assert refused.headers["X-RateLimit-Remaining"] == str(before - number)
    for items in ("pets", "store/orders", "categories"):
        assert reader.get(f"/v1/{items}").json == []


@pytest.mark.usefixtures("order")
def test_a_read_key_reads_and_a_public_one_no_orders(
    reader: FlaskClient, page: FlaskClient
):
    for method in ("GET", "HEAD"):
        for path in (*READS, *ORDERS):
            assert reader.open(path, method=method).status_code == 200
            status = 200 if path in READS else 403
            assert page.open(path, method=method).status_code == status
    refused = page.get(ORDERS[0]).json["message"]
    assert refused == f"{PUBLIC_READS} may read orders."
    refused = page.post("/v1/pets", json=REX).json["message"]
    assert refused == f"{PUBLIC_READS} may write."


def test_what_is_no_operation_is_refused_to_every_key_alike(reader: FlaskClient):
    assert error_of(reader.post("/v1/cats")) == NOT_FOUND
    assert error_of(reader.delete("/v1/pets")) == (405, "method_not_allowed")
    assert reader.options("/v1/pets").status_code == 204


def test_a_read_key_gets_no_stored_response(client: FlaskClient, reader: FlaskClient):
    retry = {"json": REX, "headers": {"Idempotency-Key": "1"}}
    assert client.post("/v1/pets", **retry).status_code == 201
    assert error_of(reader.post("/v1/pets", **retry)) == NOT_ALLOWED
    assert client.post("/v1/pets", **retry).headers["Idempotent-Replayed"] == "true"
